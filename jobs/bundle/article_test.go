package bundle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/jobs/bundle"
	"nightdesk/storage"
)

func TestArticle(t *testing.T) {
	t.Parallel()
	run, store := "research_20260101_000000_abcdefghij", storage.NewDir(t.TempDir())
	put := func(key, text string) {
		t.Helper()
		if err := store.Put(t.Context(), key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put(storage.CacheKey(run, "sources.jsonl"),
		`{"source_id":"a","title":"Dunes","url":"http://dunes.test/a#x","citation_ids":["CIT-1-01"]}
{"source_id":"b","title":"Dunes","url":"http://dunes.test/a#y","citation_ids":["CIT-1-02"]}
{"source_id":"c","title":"Wind\nrose","url":"http://wind.test/","citation_ids":["CIT-2-01"]}
{"source_id":"d","document":"sand.md","citation_ids":["CIT-2-02"]}
{"source_id":"e","url":"http://not-cited.test/","citation_ids":[]}
`)
	for _, test := range []struct{ report, want string }{
		{"# Dunes\n\n> 2026 · run\n\nThey move [[CIT-2-01](#ref-cit-2-01)] far [[CIT-1-01](#ref-cit-1-01)] " +
			"[[CIT-1-02](#ref-cit-1-02)].\n\n## Why\n\nSand [[CIT-2-02](#ref-cit-2-02)] " +
			"[[CIT-2-01](#ref-cit-2-01)].\n\n## References\n\n<a id=\"ref-cit-1-01\"></a> [CIT-1-01] x\n",
			"# Dunes\n\nThey move [1] far [2].\n\n## Why\n\nSand [3][1].\n\n" +
				"[1] Wind rose. http://wind.test/\n[2] Dunes. http://dunes.test/a#x\n[3] sand.md\n"},
		{"# Dunes\n\nThey move [[1](#ref-1)].\n\n## References\n\n<a id=\"ref-1\"></a> [1] [Wind](http://wind.test/)\n",
			"# Dunes\n\nThey move [1].\n\n[1] [Wind](http://wind.test/)\n"},
		{"Nothing is known.\n", "Nothing is known.\n"},
	} {
		put(storage.ReportKey(run), test.report)
		got, err := bundle.Article(t.Context(), store, run)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got)\n%s", test.report, err, diff)
		}
	}
}
