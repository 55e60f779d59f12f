package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs/search"
	"nightdesk/storage"
	"nightdesk/storage/storagetest"
	"nightdesk/topicqueue"
)

// archive is a storage with runs and an index.
type archive struct {
	*testing.T
	store *storage.Dir
	dir   string
	*search.Index
}

func newArchive(t *testing.T) *archive {
	t.Helper()
	a := &archive{T: t, store: storage.NewDir(t.TempDir()), dir: t.TempDir()}
	a.open()
	return a
}

func (a *archive) open() {
	a.Helper()
	var err error
	if a.Index, err = search.Open(a.dir, a.store); err != nil {
		a.Fatal(err)
	}
	index := a.Index
	a.Cleanup(func() { index.Close() })
}

func (a *archive) put(key string, body any) {
	a.Helper()
	text, ok := body.(string)
	if !ok {
		data, err := json.Marshal(body)
		if err != nil {
			a.Fatal(err)
		}
		text = string(data)
	}
	if err := a.store.Put(a.Context(), key, []byte(text)); err != nil {
		a.Fatal(err)
	}
}

// publish stores the files of a run that the index reads.
func (a *archive) publish(id, topic, report string, claims ...topicqueue.Claim) {
	a.Helper()
	run := topicqueue.Run{ID: id, Batch: "night", Topic: topic, State: topicqueue.RunCompleted,
		EndedAt: time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)}
	a.put(storage.CacheKey(id, "config.json"), run)
	a.put(storage.MetadataKey(id), map[string]any{"topic": topic, "batch": "night", "title": "Title of " + id})
	a.put(storage.ReportKey(id), report)
	var lines strings.Builder
	for _, c := range claims {
		if err := json.NewEncoder(&lines).Encode(c); err != nil {
			a.Fatal(err)
		}
	}
	a.put(storage.CacheKey(id, "claims.jsonl"), lines.String())
	a.put(storage.ManifestKey(id), "{}")
}

// catchUp updates the index, which must add and remove this many runs.
func (a *archive) catchUp(added, removed int) {
	a.Helper()
	done, err := a.CatchUp(a.Context(), nil)
	if err != nil || done.Added != added || done.Removed != removed {
		a.Errorf("CatchUp = %+v, %v; want %d read and %d removed", done, err, added, removed)
	}
}

// finds returns the ids of the runs found by a query, separated by spaces.
func (a *archive) finds(query string) string {
	a.Helper()
	found, err := a.Search(a.Context(), search.Query{Text: query})
	if err != nil {
		a.Errorf("search %q: %v", query, err)
	}
	var ids []string
	for _, r := range found.Results {
		ids = append(ids, r.RunID)
	}
	return strings.Join(ids, " ")
}

const report = `# Banks of Switzerland

> Head: Geneva is not said here.

## Overview

Private banks in **Genève** [[CIT-1-01](#ref-cit-1-01)] hold [old money](https://example.org/x). Other towns have fewer.

| Town | Heat pumps |
|---|---|
| Basel | 1,200 |

## References

<a id="ref-cit-1-01"></a> [CIT-1-01] rag_hybrid: lugano
`

// TestSearch: reports and claims are found by their content, in every script. Head and references are not indexed.
func TestSearch(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	a.publish("swiss", "Where are the banks?", report, topicqueue.Claim{CitationID: "CIT-1-02", SourceID: "s2",
		Text: "Lausanne opened an archive.", Quote: "An archive was opened in Lausanne."})
	a.publish("zh", "量子计算的进展", "# 标题\n\n## 概述\n\n搜索引擎使用量子计算机。它在日内瓦。\n\n## 参考\n")
	a.publish("ja", "電池", "# 電池\n\n## 概要\n\nリチウムイオン電池は東京で作られる。\n\n## 出典\n")
	a.publish("ko", "전지", "# 전지\n\n## 개요\n\n리튬 전지는 제네바에서 만들어진다.\n\n## 출처\n")
	a.catchUp(4, 0)
	for query, want := range map[string]string{
		"Geneva":                      "", // the head says it, and a report's Genève is another word
		"genève":                      "swiss",
		"Geneve":                      "swiss",
		"bank":                        "swiss",
		"private money":               "swiss",
		`"private banks"`:             "swiss",
		`"banks private"`:             "",
		"1,200":                       "swiss",
		"basel | pumps":               "swiss",
		"lugano":                      "", // in the references
		"lausanne":                    "swiss",
		"priv*":                       "swiss",
		"priv":                        "",
		"banks -basel":                "",
		"banks -zürich":               "swiss",
		"night":                       "zh swiss ko ja",
		"搜索":                          "zh",
		"引擎使用":                        "zh",
		"机":                           "zh",
		"日内瓦":                         "zh",
		"内日":                          "",
		"東京":                          "ja",
		"リチウム":                        "ja",
		"제네바":                         "ko",
		"전지는":                         "ko",
		"量子 计算机":                      "zh",
		`AND OR NOT NEAR( ^ : " * {}`: "",
	} {
		if got := a.finds(query); got != want {
			if want != "zh swiss ko ja" || len(strings.Fields(got)) != 4 {
				t.Errorf("%s: found %q, want %q", query, got, want)
			}
		}
	}
	for _, empty := range []string{"", "  ", `"`, "-", "-bank", "***", "…"} {
		if _, err := a.Search(t.Context(), search.Query{Text: empty}); !errors.Is(err, search.ErrNoWords) {
			t.Errorf("%q: %v, want ErrNoWords", empty, err)
		}
	}
	if found, err := a.Search(t.Context(), search.Query{Text: "bank", Batch: "other"}); err != nil || found.Total != 0 {
		t.Errorf("in another batch: %+v, %v", found, err)
	}
	found, err := a.Search(t.Context(), search.Query{Text: "Lausanne elephants"})
	if err != nil || !found.Partly || found.Total != 1 {
		t.Errorf("no run has all words: %+v, %v", found, err)
	}
}

// TestSearch_Snippets: a result shows the sentences with the words, as displayed to a reader.
func TestSearch_Snippets(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	a.publish("swiss", "Where are the banks?", report, topicqueue.Claim{CitationID: "CIT-1-02", SourceID: "s2",
		Text: "Lausanne opened an archive.", Quote: "An archive was opened in Lausanne."})
	a.publish("long", "x", "# T\n\n"+strings.Repeat("Word after word of 长文 stands here, ", 40)+"and the needle "+
		strings.Repeat("stands among others, ", 40)+".\n\n## References\n")
	a.publish("zh", "量子计算的进展", "# 标题\n\n搜索引擎使用量子计算机。\n\n## 参考\n")
	a.catchUp(3, 0)
	for query, want := range map[string]string{
		"bank geneve": "report: Private [banks] in [Genève] hold old money.",
		"basel":       "report: [Basel] | 1,200",
		"basel pumps": "report: Town | Heat [pumps]report: [Basel] | 1,200",
		"lausanne":    "claim: [Lausanne] opened an archive.",
		"搜索引擎":        "report: [搜索引擎]使用量子计算机。",
		"量":           "report: 搜索引擎使用[量]子计算机。",
		"needle":      "and the [needle] stands among",
		`"old money"`: "report: Private banks in Genève hold [old money].",
	} {
		found, err := a.Search(t.Context(), search.Query{Text: query})
		if err != nil || len(found.Results) != 1 {
			t.Errorf("%s: %+v, %v", query, found, err)
			continue
		}
		var got strings.Builder
		for _, s := range found.Results[0].Snippets {
			got.WriteString(s.In + ": ")
			for _, p := range s.Pieces {
				if p.Found {
					p.Text = "[" + p.Text + "]"
				}
				got.WriteString(p.Text)
			}
			if len(s.Text) > 400 {
				t.Errorf("%s: the snippet has %d bytes", query, len(s.Text))
			}
		}
		if !strings.Contains(got.String(), want) {
			t.Errorf("%s: shown %q, want %q", query, got.String(), want)
		}
	}
}

// TestCatchUp: the index follows changes of runs in the storage.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	a.catchUp(0, 0)
	a.publish("one", "Dunes", "# Dunes\n\nSand is blown.\n\n## References\n", topicqueue.Claim{Text: "Grass grows."})
	a.publish("two", "Tides", "# Tides\n\nWater is drawn.\n\n## References\n")
	a.catchUp(2, 0)
	a.catchUp(0, 0)
	a.publish("one", "Dunes", "# Dunes\n\nSand is washed away.\n\n## References\n", topicqueue.Claim{Text: "Grass grows."})
	a.catchUp(1, 0)
	if got := a.finds("blown") + a.finds("washed"); got != "one" {
		t.Errorf("published again: found %q", got)
	}
	for _, key := range []string{storage.MetadataKey("two"), storage.ReportKey("two"), storage.ManifestKey("two")} {
		if err := a.store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	a.catchUp(0, 1)
	if got := a.finds("water"); got != "" {
		t.Errorf("deleted: found %q", got)
	}

	a.put(storage.MetadataKey("three"), `{"topic":"Being published"}`)
	a.catchUp(0, 0) // it has no manifest yet
	a.put(storage.MetadataKey("broken"), `{"topic":`)
	a.put(storage.ManifestKey("broken"), `{}`)
	a.put(storage.CacheKey("broken", "config.json"), `{`)
	a.catchUp(1, 0) // once
	a.publish("three", "Published", "# T\n\nNow.\n\n## References\n")
	a.catchUp(1, 0)
}

// TestIndex_Damaged: a damaged index is rebuilt at the next start.
func TestIndex_Damaged(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	a.publish("one", "Dunes", "# Dunes\n\nSand is blown.\n\n## References\n")
	a.catchUp(1, 0)
	files, err := filepath.Glob(filepath.Join(a.dir, "*.sqlite"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for name, body := range map[string]string{"garbage": strings.Repeat("garbage", 1000), "empty": ""} {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[0], []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		a.open()
		a.catchUp(1, 0)
		if got := a.finds("sand"); got != "one" {
			t.Errorf("%s: found %q", name, got)
		}
	}
	if err := a.Close(); err != nil { // so that everything is in the file
		t.Fatal(err)
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(body); i++ { // the first page stays: it is an index of this version
		body[i] = 0xee
	}
	if err := os.WriteFile(files[0], body, 0o600); err != nil {
		t.Fatal(err)
	}
	a.open()
	if _, err := a.CatchUp(t.Context(), nil); err == nil {
		t.Error("nothing is wrong with damaged pages")
	}
	a.open()
	a.catchUp(1, 0)
	if got := a.finds("sand"); got != "one" {
		t.Errorf("damaged pages: found %q", got)
	}
}

// TestIndex_Shared: two processes that share the file find the same runs. A search does not wait while the other
// process updates the index.
func TestIndex_Shared(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	other, err := search.Open(a.dir, a.store)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ids := "abcdefghijklmnopqrstuvwxyz"
	for _, id := range ids {
		a.publish(string(id), "Dunes", "# Dunes\n\nSand is blown.\n\n## References\n")
	}
	errs := make(chan error, 2)
	for _, x := range []*search.Index{a.Index, other} {
		go func() {
			_, err := x.CatchUp(t.Context(), nil)
			errs <- err
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for _, x := range []*search.Index{a.Index, other} {
		found, err := x.Search(t.Context(), search.Query{Text: "sand"})
		if err != nil || found.Total != len(ids) {
			t.Errorf("%d found, %v", found.Total, err)
		}
	}
}

// TestSearch_Interrupted: an ended context is returned as its cause.
func TestSearch_Interrupted(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := a.Search(ctx, search.Query{Text: "sand"}); !errors.Is(err, cause) {
		t.Errorf("Search: %v", err)
	}
	if _, err := a.CatchUp(ctx, nil); !errors.Is(err, cause) {
		t.Errorf("CatchUp: %v", err)
	}
}

// FuzzSearch: every text is a valid query, and results show text of the report.
func FuzzSearch(f *testing.F) {
	for _, query := range []string{"sand", `"sand is`, "-sand", "sa*", "搜", "a AND (b OR", `""`, "NEAR(a b)",
		"{topic}:x", "\x00\xff",
		"é́́", "ｆｕｌｌ", "㍿", "ﬁ", "ก็", "-\"x\" y", "a-b_c", "²", "Ⅷ", "ß"} {
		f.Add(query, "Sand is blown over the dunes. 搜索引擎 ﬁnds ㍿ ｆｕｌｌ é́́.")
	}
	dir := storage.NewDir(f.TempDir())
	x, err := search.Open(f.TempDir(), dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { x.Close() })
	f.Fuzz(func(t *testing.T, query, report string) {
		if _, err := x.Search(t.Context(), search.Query{Text: query}); err != nil && !errors.Is(err, search.ErrNoWords) {
			t.Errorf("%q: %v", query, err)
		}
		for _, s := range search.Snippets(report, "a") {
			var whole strings.Builder
			for _, p := range s.Pieces {
				whole.WriteString(p.Text)
			}
			if whole.String() != s.Text {
				t.Errorf("%q in %q: the pieces are %q, the text %q", query, report, whole.String(), s.Text)
			}
			if len(s.Sentence) <= 300 && s.Text != s.Sentence {
				t.Errorf("%q in %q: shown %q of %q", query, report, s.Text, s.Sentence)
			}
		}
	})
}

// TestCatchUp_S3: machines that share only a bucket find the same runs.
func TestCatchUp_S3(t *testing.T) {
	t.Parallel()
	storagetest.EachS3(t, func(t *testing.T, settings storage.S3Settings) {
		store := storagetest.Empty(t, settings)
		put := func(key, body string) {
			t.Helper()
			if err := store.Put(t.Context(), key, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		put(storage.CacheKey("one", "config.json"), `{"run_id":"one","topic":"Dunes"}`)
		put(storage.MetadataKey("one"), `{}`)
		put(storage.ReportKey("one"), "# Dunes\n\nSand is blown.\n\n## References\n")
		put(storage.ManifestKey("one"), "{}")
		var machines []*search.Index
		for range 2 {
			x, err := search.Open(t.TempDir(), store)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { x.Close() })
			machines = append(machines, x)
		}
		count := func(added, total int) {
			t.Helper()
			for _, x := range machines {
				done, err := x.CatchUp(t.Context(), nil)
				if err != nil || done.Added != added {
					t.Errorf("CatchUp = %+v, %v; want %d", done, err, added)
				}
				found, err := x.Search(t.Context(), search.Query{Text: "sand"})
				if err != nil || found.Total != total {
					t.Errorf("Search = %+v, %v; want %d", found, err, total)
				}
			}
		}
		count(1, 1)
		count(0, 1)
		if err := store.Delete(t.Context(), storage.MetadataKey("one")); err != nil {
			t.Fatal(err)
		}
		count(0, 0)
	})
}
