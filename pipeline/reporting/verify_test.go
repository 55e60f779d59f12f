package reporting_test

import (
	"context"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// TestReportIsVerified: every reference of a report of ours leads to a source, and verifying changes nothing.
func TestReportIsVerified(t *testing.T) {
	t.Parallel()
	for _, style := range []string{topicqueue.CitationAnchors, topicqueue.CitationNumbered} {
		in := evidence(t, style)
		assembled := ""
		r := reporting.Reporter{Verify: func(registry *citation.Registry, markdown string) citation.Verification {
			assembled = markdown
			return registry.Verify(markdown, citation.VerifyOptions{})
		}}
		got, err := r.Report(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		v := got.Verification
		if v.Status != citation.StatusVerified || len(v.Valid) == 0 || len(v.Removed) > 0 || got.Markdown != assembled {
			t.Errorf("%s: %s (%s), %d valid, removed %+v, changed: %v", style, v.Status, v.Reason, len(v.Valid), v.Removed, got.Markdown != assembled)
		}
	}
}

// TestVerifierPanics: a defect of the verifier does not lose the report.
func TestVerifierPanics(t *testing.T) {
	t.Parallel()
	r := reporting.Reporter{Verify: func(*citation.Registry, string) citation.Verification { panic("injected") }}
	got, err := r.Report(context.Background(), evidence(t, topicqueue.CitationAnchors))
	if err != nil {
		t.Fatal(err)
	}
	v := got.Verification
	if got.Markdown == "" || len(got.Cited) == 0 || v.Status != citation.StatusUnverified || v.Reason != citation.ReasonPanicked {
		t.Errorf("%d bytes, cites %v: %+v", len(got.Markdown), got.Cited, v)
	}
}
