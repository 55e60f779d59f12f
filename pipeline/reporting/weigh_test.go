package reporting_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// disagreeing is a run whose sources name two capacities of one reactor; three of four sources are two texts.
func disagreeing(t *testing.T) (in reporting.Input, pages map[string]string) {
	t.Helper()
	release := strings.Repeat("The reactor was built beside the harbour by several hundred workers over nine years. ", 8)
	quotes := []string{
		"The Hinkley reactor has a capacity of 1,200 MW.", "The Hinkley reactor has a capacity of 1.2 GW.",
		"The Hinkley reactor has a capacity of 1,200 MW.", "The Hinkley reactor has a capacity of 1,600 MW.",
	}
	pages = map[string]string{}
	in = reporting.Input{Run: topicqueue.Run{ID: "research_20250601_220000_abcdefghij", Topic: "The Hinkley reactor", Options: topicqueue.Options{Language: "en"}}}
	for i, quote := range quotes {
		text := fmt.Sprintf("Page %d. %s %s", i, quote, strings.Repeat(fmt.Sprintf("word%d of a text%d that is only here%d and nowhere%d else. ", i, i, i, i), 10))
		if i == 0 || i == 2 {
			text = fmt.Sprintf("Printed by paper %d. %s %s", i, quote, release)
		}
		s := topicqueue.Source{
			Kind: topicqueue.SourceWeb, Title: "Hinkley", URL: fmt.Sprintf("https://site%d.example/", i), Domain: fmt.Sprintf("site%d.example", i),
			Genre: topicqueue.GenreNews, Publisher: fmt.Sprintf("Paper %d", i), Date: "2024-03-05", Hash: topicqueue.TextHash(text),
		}
		s.ID = topicqueue.SourceID(s)
		pages[s.Hash] = text
		n := i/2 + 1
		id := topicqueue.BlockCitationID(n, i%2+1)
		if i%2 == 0 {
			in.Blocks = append(in.Blocks, reporting.BlockEvidence{Block: topicqueue.Block{
				ID: topicqueue.BlockID(n), Title: []string{"Capacity of Hinkley", "Output in figures"}[i/2], Status: topicqueue.BlockCompleted,
			}})
		}
		b := &in.Blocks[len(in.Blocks)-1]
		b.Traces = append(b.Traces, topicqueue.ToolTrace{CitationID: id, ToolType: "web_search", Query: "capacity", Source: s, Claims: []topicqueue.Claim{
			{ID: id + ".1", CitationID: id, SourceID: s.ID, Text: quote, Quote: quote},
		}})
	}
	return in, pages
}

func pageOf(pages map[string]string) func(context.Context, string, string) (string, error) {
	return func(_ context.Context, _, hash string) (string, error) {
		return pages[hash], nil
	}
}

func TestWriterSeesSupportAndDisagreement(t *testing.T) {
	t.Parallel()
	in, pages := disagreeing(t)
	told := make(chan string, 10)
	model := modelFunc(func(req llm.Request) (string, error) {
		user := req.Prompt.User
		switch {
		case req.Prompt.Name != "author":
			return "", errors.New("away")
		case strings.Contains(user, "Where sources disagree"):
			told <- user
		}
		return authored(req, func(title string) string {
			if title == "opening" {
				return "The reactor has a capacity [CIT-1-01]."
			}
			return "One source says 1,200 MW [CIT-1-01], another 1,600 MW [CIT-2-02]."
		}), nil
	})
	report, err := (&reporting.Reporter{Model: model, Page: pageOf(pages)}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	close(told)
	var prompts []string
	for p := range told {
		prompts = append(prompts, p)
	}
	if len(prompts) != 1 {
		t.Fatalf("%d sections were told of the disagreement", len(prompts))
	}
	for _, want := range []string{"(in 2 documents)", "[CIT-2-02] The Hinkley reactor has a capacity of 1,600 MW.", "(news, Paper 1, 2024-03-05)"} {
		if !strings.Contains(prompts[0], want) {
			t.Errorf("no %q in\n%s", want, prompts[0])
		}
	}
	if !strings.Contains(report.Markdown, "[[CIT-1-01](#ref-cit-1-01)], another 1,600 MW [[CIT-2-02](#ref-cit-2-02)]") || len(report.Removed) > 0 {
		t.Errorf("removed %v of\n%s", report.Removed, report.Markdown)
	}
	if !strings.Contains(report.Markdown, " · Paper 3 · news · 2024-03-05") {
		t.Errorf("a reference does not say what its source is:\n%s", report.Markdown)
	}
	if s := report.Statistics; s.Origins != 2 || s.Contradictions != 1 {
		t.Errorf("%+v", s)
	}
	if got := report.Evidence.Support()["CIT-1-02.1"]; got != 2 {
		t.Errorf("support %d, want 2", got)
	}
}

func TestQuotedReportShowsBothSides(t *testing.T) {
	t.Parallel()
	for language, heading := range map[string]string{"en": "## Where sources disagree", "zh": "## 来源之间的分歧"} {
		in, pages := disagreeing(t)
		in.Run.Options.Language = language
		report, err := (&reporting.Reporter{Page: pageOf(pages)}).Report(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		_, section, ok := strings.Cut(report.Markdown, heading+"\n\n")
		section, _, _ = strings.Cut(section, "\n\n")
		want := "- The Hinkley reactor has a capacity of 1,200 MW. [[CIT-1-01](#ref-cit-1-01)]\n  - The Hinkley reactor has a capacity of 1,600 MW. [[CIT-2-02](#ref-cit-2-02)]"
		if !ok || section != want {
			t.Errorf("%s: got\n%s\nof\n%s", language, section, report.Markdown)
		}
	}
}

// Lost texts cost the knowledge of copies and nothing else.
func TestTextsLost(t *testing.T) {
	t.Parallel()
	in, _ := disagreeing(t)
	report, err := (&reporting.Reporter{Page: pageOf(nil)}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Evidence.Support()["CIT-1-02.1"]; got != 3 || report.Statistics.Contradictions != 1 {
		t.Errorf("support %d, %+v", got, report.Statistics)
	}
}

// A quote may not name its subject: what a model has noted does.
func TestDisagreementAsNoted(t *testing.T) {
	t.Parallel()
	in, pages := disagreeing(t)
	for _, b := range in.Blocks {
		for j := range b.Traces {
			claim := &b.Traces[j].Claims[0]
			claim.Text = strings.Replace(claim.Quote, "reactor", "reactor near the harbour", 1)
		}
	}
	model := modelFunc(func(req llm.Request) (string, error) {
		if req.Prompt.Name != "author" {
			return "", errors.New("away")
		}
		return authored(req, func(string) string { return "The reactor stands at Hinkley [CIT-1-01]." }), nil
	})
	report, err := (&reporting.Reporter{Model: model, Page: pageOf(pages)}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	const side = "- The Hinkley reactor near the harbour has a capacity of "
	for _, want := range []string{"\n" + side + "1,200 MW. [", "\n  " + side + "1,600 MW. ["} {
		if !strings.Contains(report.Markdown, want) {
			t.Errorf("no %q in\n%s", want, report.Markdown)
		}
	}
}

// What a further block has found by its own title alone is left out; what answers the topic stands behind the best.
func TestFurtherBlockByItsTitle(t *testing.T) {
	t.Parallel()
	in, pages := disagreeing(t)
	club, people := "The boat club of Hinkley meets on Mondays at the pier.", "The Hinkley reactor employs 900 people."
	for i, quote := range []string{club, people} {
		c := &in.Blocks[1].Traces[i].Claims[0]
		c.Text, c.Quote, c.Share = quote, quote, 1-float64(i)/10
	}
	for i, quote := range []string{"The Hinkley reactor has a capacity of 1,200 MW.", "It opened in 2024."} {
		c := &in.Blocks[0].Traces[i].Claims[0]
		c.Text, c.Quote, c.Share = quote, quote, 1-float64(i)/3
	}
	report, err := (&reporting.Reporter{Page: pageOf(pages)}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	at := func(words string) int { return strings.Index(report.Markdown, words) }
	if best, people := at("1,200 MW."), at("900 people"); best < 0 || people < best || at("boat club") >= 0 {
		t.Errorf("they stand at %d and %d in\n%s", best, people, report.Markdown)
	}
}
