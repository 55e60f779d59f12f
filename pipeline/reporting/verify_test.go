package reporting_test

import (
	"context"
	"testing"

	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// TestReportIsVerified: every reference of a report of ours leads to a source, and verifying changes nothing.
func TestReportIsVerified(t *testing.T) {
	t.Parallel()
	for _, style := range []string{topicqueue.CitationAnchors, topicqueue.CitationNumbered} {
		in := evidence(t, style)
		got, err := (&reporting.Reporter{}).Report(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		v, again := got.Verification, verification.Verify(in.Registry(), got.Markdown, verification.Options{}).Report
		if v.Status != verification.StatusVerified || len(v.Valid) == 0 || len(v.Removed) > 0 || got.Markdown != again {
			t.Errorf("%s: %s (%s), %d valid, removed %+v, changed: %v", style, v.Status, v.Reason, len(v.Valid), v.Removed, got.Markdown != again)
		}
	}
}
