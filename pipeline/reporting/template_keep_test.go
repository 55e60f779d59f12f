package reporting_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// A report with a template is kept as others are: nothing is asked when nothing has moved. With another template all is written
// anew.
func TestTemplateKept(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	anyID := regexp.MustCompile(`\[CIT-\d+-\d+\] `)
	model := modelFunc(func(req llm.Request) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, req.Prompt.Name)
		if req.Prompt.Name == "outline" {
			return `{"form": "overview", "computations": [], "title": "", "introduction": "", "sections": [{"title": "Costs of a licence",
				"instruction": "", "block_ids": [], "claims": [1], "subsections": []}], "conclusion": "", "key_claims": []}`, nil
		}
		if req.Prompt.Name == "author" {
			return authored(req, func(string) string {
				return "It is as it was " + strings.TrimSpace(anyID.FindString(req.Prompt.User)) + "."
			}), nil
		}
		return writer(req)
	})
	report := func(in reporting.Input) reporting.Report {
		t.Helper()
		asked = nil
		got, err := (&reporting.Reporter{Model: model, Now: now}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := evidence(t, topicqueue.CitationAnchors)
	first.Run.Options.Incremental, first.Run.Options.Template = true, brief
	one := report(first)
	if !slices.Contains(asked, "outline") {
		t.Errorf("asked for %q", asked)
	}
	body, err := json.Marshal(one.Text)
	if err != nil {
		t.Fatal(err)
	}
	second := evidence(t, topicqueue.CitationAnchors)
	second.Run.Options = first.Run.Options
	if second.Before, err = reporting.ReadText(body); err != nil {
		t.Fatal(err)
	}
	for _, b := range second.Blocks {
		for j := range b.Traces {
			b.Traces[j].Since = "2025-06-01"
		}
	}
	second.Changes = &recurring.Changes{Since: "2025-06-01", RunID: "research_old"}
	two := report(second)
	if kept := sectionText(one.Markdown, "The log"); len(asked) > 0 || kept == "" || sectionText(two.Markdown, "The log") != kept {
		t.Errorf("asked for %q\n%s\n%s", asked, one.Markdown, two.Markdown)
	}
	third := second
	third.Run.Options.Template = strings.ReplaceAll(brief, "The log", "What is logged")
	three := report(third)
	if !slices.Contains(asked, "outline") || !slices.Contains(asked, "author") || !slices.Contains(sectionTitles(three.Markdown), "What is logged") {
		t.Errorf("asked for %q", asked)
	}
}
