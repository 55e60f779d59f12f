package reportingtest_test

import (
	"testing"

	"nightdesk/pipeline/reporting/reportingtest"
)

func TestCheckVerbatim(t *testing.T) {
	t.Parallel()
	source := func(id string) string {
		return map[string]string{"CIT-1-01": "The *log*\nis a file. It grows.", "1": "Locks wait."}[id]
	}
	const frame = "# T\n\nThis frame quotes nothing.\n\n## Log\n\n"
	for name, tt := range map[string]struct {
		in   string
		want int
	}{
		"sound":            {frame + "The \\*log\\* is a file. [[CIT-1-01](#ref-cit-1-01)] It grows. [[CIT-1-01](#ref-cit-1-01)]\n\n## References\n\nx", 0},
		"numbered":         {frame + "### Sub\n\n- Locks wait. [[1](#ref-1)]\n", 0},
		"either source":    {frame + "Locks wait. [[CIT-1-01](#ref-cit-1-01)][[1](#ref-1)]", 0},
		"changed":          {frame + "The log was a file. [[CIT-1-01](#ref-cit-1-01)]", 1},
		"wrong source":     {frame + "Locks wait. [[CIT-1-01](#ref-cit-1-01)]", 1},
		"no citation":      {frame + "It grows. [[CIT-1-01](#ref-cit-1-01)] And shrinks.", 1},
		"marker only":      {frame + "[[CIT-1-01](#ref-cit-1-01)]", 1},
		"quotes nothing":   {"# T\n\nFrame.\n\n## Gaps\n\n- x", 1},
		"unescaped markup": {frame + "The *log* is no file. [[CIT-1-01](#ref-cit-1-01)]", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := reportingtest.CheckVerbatim(tt.in, source); len(got) != tt.want {
				t.Errorf("violations %q, want %d", got, tt.want)
			}
		})
	}
}
