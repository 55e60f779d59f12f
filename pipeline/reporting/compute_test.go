package reporting_test

import (
	"encoding/json"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// computing is a model whose outline orders three computations, of which one can be made, and whose text of the log
// cites it.
func computing(asked *[]string) modelFunc {
	const orders = `"computations": [
		{"what": "Time of recovery of a log of 64 MB, in seconds.", "expression": "0.4 * 64 / 16", "claims": [4]},
		{"what": "Time of recovery of a log of 16 MB in 300 checkpoints", "expression": "0.4 * 300", "claims": [4, 6, 99]},
		{"what": "Checkpoints a day", "expression": "86400 / 300", "claims": [6]}]`
	return func(req llm.Request) (string, error) {
		*asked = append(*asked, req.Prompt.Name)
		switch req.Prompt.Name {
		case "outline":
			return strings.Replace(outlineReply, `"computations": []`, orders, 1), nil
		case "author":
			return authored(req, func(title string) string {
				if title == "The log" && strings.Contains(req.Prompt.User, "CIT-900-01") {
					return "The recovery of 300 logs takes 120 seconds [CIT-900-01]."
				}
				return section(title)
			}), nil
		}
		return writer(req)
	}
}

// A computation over claims is a source of its own, in the next report too, unless what it is computed from has changed.
func TestComputations(t *testing.T) {
	t.Parallel()
	var asked []string
	report := func(in reporting.Input) reporting.Report {
		t.Helper()
		asked = nil
		in.Run.Options.Incremental = true
		got, err := (&reporting.Reporter{Model: computing(&asked), Now: now, Parallel: 1}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	one := report(evidence(t, topicqueue.CitationAnchors))
	computed := one.Outline.Computed
	if len(computed) != 1 || computed[0].CitationID != "CIT-900-01" {
		t.Fatalf("%+v", computed)
	}
	text := computed[0].Source.Text
	for _, want := range []string{"0.4 * 300 = 120\n", "- [CIT-1-01] Recovery of a log of 16 MB took 0.4 seconds",
		"- [CIT-1-02] The setting checkpoint_interval defaults to 300 seconds.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	sentence := find(t, one, "The recovery of 300 logs")
	if sentence.Source != computed[0].Source.ID || !strings.Contains(one.Markdown, `<a id="ref-cit-900-01"></a> [CIT-900-01]`) {
		t.Errorf("%+v\n%s", sentence, one.Markdown)
	}
	next := func(change func(in *reporting.Input)) reporting.Report {
		body, err := json.Marshal(one.Text)
		if err != nil {
			t.Fatal(err)
		}
		in := evidence(t, topicqueue.CitationAnchors)
		in.Changes = &recurring.Changes{Since: "2025-06-01", RunID: "research_old"}
		if in.Before, err = reporting.ReadText(body); err != nil {
			t.Fatal(err)
		}
		change(&in)
		return report(in)
	}
	two := next(func(*reporting.Input) {})
	if len(asked) > 0 || len(two.Outline.Computed) != 1 || two.Outline.Computed[0].Source.Text != text ||
		!strings.Contains(two.Markdown, "120 seconds [[CIT-900-01]") {
		t.Errorf("asked %q, %+v\n%s", asked, two.Outline.Computed, two.Markdown)
	}
	three := next(func(in *reporting.Input) { in.Blocks[0].Traces[1].Dropped = 1 })
	if len(three.Outline.Computed) > 0 || strings.Contains(three.Markdown, "CIT-900") {
		t.Errorf("%+v\n%s", three.Outline.Computed, three.Markdown)
	}
}
