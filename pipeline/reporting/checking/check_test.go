package checking_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/topicqueue"
)

const said = "The checkpoint interval is 300 seconds."

// checker returns a checker without a model for a run with one source and one claim.
func checker() checking.Checker {
	source := topicqueue.Source{Kind: topicqueue.SourceDocument, Title: "Guide", Document: "guide.html", Text: said,
		Hash: topicqueue.TextHash(said)}
	source.ID = topicqueue.SourceID(source)
	trace := topicqueue.ToolTrace{CitationID: "CIT-1-01", Source: source, Claims: []topicqueue.Claim{{ID: "CIT-1-01.1",
		CitationID: "CIT-1-01", SourceID: source.ID, Text: said, Quote: said, End: len(said)}}}
	registry := citation.NewRegistry([]topicqueue.ToolTrace{trace})
	return checking.Checker{
		Parallel: 1, Registry: registry, Claims: evidence.Collect([]topicqueue.ToolTrace{trace}, "block_1"),
		Source: func(id string) (topicqueue.Source, bool) {
			t, ok := registry.Lookup(id)
			return t.Source, ok
		},
		Read: func(_ context.Context, list []topicqueue.Source) (texts []string, err error) {
			for _, s := range list {
				texts = append(texts, s.Text)
			}
			return texts, nil
		},
	}
}

func written() []checking.Part {
	text := strings.TrimSuffix(said, ".") + " [CIT-1-01]. The checkpoint interval is 900 seconds [CIT-1-01]."
	return []checking.Part{{Title: "Checkpoints", Blocks: report.Parse(text)}}
}

// TestCheck: what stands in the source is supported, another figure is marked, and the record can be made again.
func TestCheck(t *testing.T) {
	t.Parallel()
	c := checker()
	parts, v, err := c.Check(t.Context(), written())
	if err != nil || v.Counts.Supported != 1 || v.Counts.Marked != 1 || !v.Verified() {
		t.Fatalf("%v: %+v", err, v)
	}
	if len(parts) != 1 || len(parts[0].Checked) != 2 {
		t.Errorf("the part has %+v", parts)
	}
	texts := []support.Source{checking.SupportSource(c.Claims[0].Source, said)}
	sourceOf := func(string) string { return c.Claims[0].Source.ID }
	if wrong, _ := v.Recheck(texts, sourceOf); len(wrong) > 0 {
		t.Errorf("not confirmed: %v", wrong)
	}
	v.Sentences[1].Verdict = support.Supported
	if wrong, _ := v.Recheck(texts, sourceOf); !slices.Equal(wrong, []int{1}) {
		t.Errorf("a changed verdict shows as %v", wrong)
	}
}

// TestCheckBreaksOff: a defect of the check leaves the text as it was written.
func TestCheckBreaksOff(t *testing.T) {
	t.Parallel()
	c := checker()
	c.Read = func(context.Context, []topicqueue.Source) ([]string, error) { panic("a defect") }
	parts, v, err := c.Check(t.Context(), written())
	if err != nil || v.Status != verification.StatusUnverified || !strings.Contains(v.Reason, "a defect") {
		t.Errorf("%v: %+v", err, v)
	}
	if !reflect.DeepEqual(parts, written()) {
		t.Errorf("became %+v", parts)
	}
}
