package formats_test

import (
	"regexp"
	"strings"
	"testing"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/prompts"
)

// TestChecks: statements show their verdicts and what is new, each with the number of its check.
func TestChecks(t *testing.T) {
	t.Parallel()
	tree := report.Read("# Noise\n\nNobody said this. The pumps are **loud** [[1](#ref-1)]. It hums [[1](#ref-1)].\n\n" +
		"- `wal` helps\n  a lot [[1](#ref-1)].\n\n| What | How much |\n|---|---|\n| noise | 40 dB [[1](#ref-1)] |\n\n" +
		"## References\n\n<a id=\"ref-1\"></a> [1] It hums.\n")
	verdicts := map[string]string{"The pumps are **loud**.": "supported", "It hums.": "unverified",
		"`wal` helps a lot.": "conclusion", "noise | 40 dB": "unsupported"}
	number := 0
	report.EachStatement(tree.Sections[0].Blocks, func(s report.Statement) {
		if s.Verdict = verdicts[s.Text()]; s.Verdict != "" {
			number++
			s.Check = number
		}
		s.New = s.Text() == "It hums."
	})
	r := formats.Report{Tree: tree, Language: "en"}
	spans := regexp.MustCompile(`<span class="v-([a-z]+(?: news)?)" data-sentence="(\d)">(.*?)</span>`)
	page, err := formats.HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range spans.FindAllStringSubmatch(string(page), -1) {
		got = append(got, m[2]+m[1]+" "+strings.TrimSpace(m[3]))
	}
	want := "1ok The pumps are|1ok <strong>loud</strong>|1ok .|2open news It hums|2open news .|" +
		"3own <code>wal</code>|3own helps a lot|3own .|4bad noise|4bad 40 dB"
	if joined := strings.Join(got, "|"); joined != want {
		t.Errorf("marked:\n%s\nwant:\n%s", joined, want)
	}
	words := prompts.TextsIn("en")
	for _, part := range []string{`id="show-checks"> ` + words.ShowChecks.String(), `id="show-news"> ` + words.ShowNews.String(),
		`<span class="v-own">` + words.CheckConclusion.String() + `</span>`} {
		if !strings.Contains(string(page), part) {
			t.Errorf("no %s", part)
		}
	}
}
