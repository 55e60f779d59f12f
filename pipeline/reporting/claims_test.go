package reporting_test

import (
	"errors"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// What two blocks have noted of one passage is shown to a writer once, under one number.
func TestPassageOfTwoBlocks(t *testing.T) {
	t.Parallel()
	in, pages := disagreeing(t)
	first := in.Blocks[0].Traces[0]
	again := first
	again.CitationID = in.Blocks[1].Traces[0].CitationID
	again.Claims = append(again.Claims[:0:0], first.Claims...)
	again.Claims[0].ID, again.Claims[0].CitationID = again.CitationID+".1", again.CitationID
	again.Claims[0].Text = "Hinkley can deliver 1,200 MW."
	in.Blocks[1].Traces[0] = again
	shown := make(chan string, 10)
	model := modelFunc(func(req llm.Request) (string, error) {
		if req.Prompt.Name != "author" {
			return "", errors.New("away")
		}
		shown <- req.Prompt.User
		return authored(req, func(string) string {
			return "The reactor has a capacity of 1,200 MW [CIT-1-01]. Another source says 1,600 MW [CIT-2-02]."
		}), nil
	})
	report, err := (&reporting.Reporter{Model: model, Page: pageOf(pages)}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	close(shown)
	for prompt := range shown {
		claims, _, _ := strings.Cut(prompt, "</material")
		if n := strings.Count(claims, "[CIT-1-01]"); n > 1 || strings.Contains(claims, "[CIT-2-01]") {
			t.Errorf("shown %d times:\n%s", n, claims)
		}
	}
	if strings.Contains(report.Markdown, "CIT-2-01") || strings.Count(report.Markdown, "id=\"ref-cit-1-01\"") != 1 {
		t.Error(report.Markdown)
	}
}

// Of a passage that one block has put into words and another has as it stands, the words are shown.
func TestPassageInWords(t *testing.T) {
	t.Parallel()
	in, pages := disagreeing(t)
	first := &in.Blocks[0].Traces[0]
	first.Claims[0].Quote = "| Capacity of Hinkley in MW | 1,200 |"
	again := *first
	again.CitationID = in.Blocks[1].Traces[0].CitationID
	again.Claims = append(again.Claims[:0:0], first.Claims...)
	again.Claims[0].ID, again.Claims[0].CitationID = again.CitationID+".1", again.CitationID
	again.Claims[0].Text = "Hinkley can deliver 1,200 MW."
	in.Blocks[1].Traces[0] = again
	first.Claims[0].Text = first.Claims[0].Quote
	in.Review.Contradictions = []topicqueue.Contradiction{{A: first.Claims[0].ID, B: "CIT-2-02.1"}}
	in.Review.Blocks = []string{"block_1", "block_2"}
	var shown strings.Builder
	model := modelFunc(func(req llm.Request) (string, error) {
		if req.Prompt.Name == "outline" {
			shown.WriteString(req.Prompt.User)
		}
		if req.Prompt.Name == "author" {
			return authored(req, func(string) string { return "The reactor is at Hinkley [CIT-1-01]." }), nil
		}
		return "", errors.New("away")
	})
	report, err := (&reporting.Reporter{Model: model, Page: pageOf(pages)}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.Markdown, "- Hinkley can deliver 1,200 MW. [[CIT-1-01](#ref-cit-1-01)]\n  - The Hinkley") {
		t.Errorf("the contradiction is told as it stands:\n%s", report.Markdown)

	}
	if strings.Contains(report.Markdown, "Capacity of Hinkley in MW") {
		t.Errorf("the row is shown too:\n%s", report.Markdown)
	}
	if !strings.Contains(shown.String(), ": Hinkley can deliver 1,200 MW.") ||
		strings.Contains(shown.String(), ": "+first.Claims[0].Quote) {
		t.Error(shown.String())
	}
}

// A section that tells of a contradiction under the number of another block tells of it.
func TestContradictionOfTwoBlocks(t *testing.T) {
	t.Parallel()
	in, pages := disagreeing(t)
	again := in.Blocks[1].Traces[1]
	again.CitationID = "CIT-1-03"
	again.Claims = append(again.Claims[:0:0], again.Claims...)
	again.Claims[0].ID, again.Claims[0].CitationID = "CIT-1-03.1", "CIT-1-03"
	again.Claims[0].Text, again.Claims[0].Quote = "The page is the third.", "Page 3."
	in.Blocks[0].Traces = append(in.Blocks[0].Traces, again)
	model := modelFunc(func(req llm.Request) (string, error) {
		if req.Prompt.Name != "author" {
			return "", errors.New("away")
		}
		return authored(req, func(string) string {
			return "The sources do not agree on the capacity of the reactor [CIT-1-01][CIT-1-03]."
		}), nil
	})
	report, err := (&reporting.Reporter{Model: model, Page: pageOf(pages)}).Report(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(report.Markdown, prompts.TextsIn("en").Disagree.String()) || strings.Contains(report.Markdown, "CIT-2-02") {
		t.Error(report.Markdown)
	}
}
