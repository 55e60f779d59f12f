package formats_test

import (
	"regexp"
	"strings"
	"testing"

	"nightdesk/pipeline/reporting/formats"
)

// Sentences that were checked are marked where they stand, in the order of the report; what is not found is not
// guessed.
func TestChecks(t *testing.T) {
	t.Parallel()
	const a = " [[CIT-1-01](#ref-cit-1-01)]"
	r := formats.Report{
		Markdown: "# Noise\n\nNobody said this. The pumps are **loud**" + a + ". It hums" + a + ".\nIt hums" + a + ".\n\n" +
			"- `wal` helps\n  a lot" + a + ".\n\n| What | How much |\n|---|---|\n| noise | 40 dB" + a + " |\n\n" +
			"## References\n\n<a id=\"ref-cit-1-01\"></a> [CIT-1-01] It hums.\n",
		Checks: []formats.Check{
			{"The pumps are **loud**.", formats.Confirmed, 1}, {"It hums.", formats.Unconfirmed, 2},
			{"This stands nowhere.", formats.Unsupported, 3}, {"It hums.", formats.Unsupported, 4},
			{"`wal` helps a lot.", formats.Conclusion, 5}, {"noise | 40 dB", formats.Confirmed, 6},
		},
		Words: formats.CheckWords{Show: "Show <all>", Confirmed: "yes", Conclusion: "own", Unconfirmed: "open",
			Unsupported: "no"},
	}
	page, err := formats.HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(page), "</p>") // behind the legend
	var got []string
	spans := regexp.MustCompile(`<span class="v-([a-z]+)" data-sentence="(\d)">(.*?)</span>`)
	for _, m := range spans.FindAllStringSubmatch(body, -1) {
		got = append(got, m[2]+m[1]+" "+m[3])
	}
	want := "1ok The pumps are|1ok <strong>loud</strong>|1ok .|2open It hums|2open .|4bad It hums|4bad .|" +
		"5own <code>wal</code>|5own  helps a lot|5own .|6ok noise|6ok 40 dB|"
	if joined := strings.ReplaceAll(strings.Join(got, "|")+"|", " |", "|"); joined != want {
		t.Errorf("marked:\n%s\nwant:\n%s", joined, want)
	}
	if strings.Contains(body, `">Nobody`) || !strings.Contains(string(page), "Show &lt;all&gt;") {
		t.Errorf("%s", page)
	}
	r.News = []string{"It hums.", "noise | 40 dB"}
	r.Words.News = "Show <news>"
	page, err = formats.HTML(r)
	_, body, _ = strings.Cut(string(page), "</p>")
	const marked = `<span class="v-open news" data-sentence="2">It hums </span>`
	if err != nil || !strings.Contains(body, marked) ||
		strings.Count(body, " news\"") != 4 || !strings.Contains(string(page), `id="show-news"> Show &lt;news&gt;`) {
		t.Errorf("news: %v\n%s", err, page)
	}
	r.Checks, r.News = nil, r.News[:1]
	if page, err = formats.HTML(r); err != nil || !strings.Contains(string(page), `<span class="news">It hums </span>`) {
		t.Errorf("news of a report without checks: %v\n%s", err, page)
	}
	r.News = nil
	if page, err = formats.HTML(r); err != nil || strings.Contains(string(page), `id="show-checks"`) {
		t.Errorf("nothing was checked, and the page shows it: %v", err)
	}
}
