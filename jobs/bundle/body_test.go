package bundle_test

import (
	"testing"

	"nightdesk/jobs/bundle"
)

func TestBody(t *testing.T) {
	t.Parallel()
	for report, want := range map[string]string{
		"# Dunes\n\n> 2026 · run\n> Check\n\nThey move [[CIT-1-01](#ref-cit-1-01)]. High [[2](#ref-2)].\n\n" +
			"## Why\n\nWind.\n\n## References\n\n[CIT-1-01] x\n": "They move. High.\n\n## Why\n\nWind.",
		"Plain.":                 "Plain.",
		"":                       "",
		"# T\n\n## References\n": "",
		"> quote\n\n[a](#ref-x)": "[a](#ref-x)",
	} {
		if got := bundle.Body(report); got != want {
			t.Errorf("%q: %q, want %q", report, got, want)
		}
	}
}
