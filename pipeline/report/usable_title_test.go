package report_test

import (
	"testing"

	"nightdesk/pipeline/report"
)

func TestReportTitle(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{
		"Tides of the Atlantic":        true,
		"Tides: an overview (2nd ed.)": true,
		"Why [sic] tides rise":         true,
		"潮汐的成因":                        true,
		"조석의 원인":                       true,
		"Tides":                        false,
		"潮":                            false,
		"":                             false,
		`{"title": "Tides of the sea"`: false,
		`title": Tides of the sea`:     false,
		`'title' : Tides of the sea`:   false,
		`Tides of the sea\nSections`:   false,
		`Tides of the sea [] sections`: false,
		`[Tides of the sea]`:           false,
		`Tides of the sea"}`:           false,
	} {
		if got := report.ReportTitle(title); got != want {
			t.Errorf("reportTitle(%q) = %v", title, got)
		}
	}
}
