package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/knowledge"
)

// manual is a small corpus with headings, items, symbols and pages that say the same.
var manual = files{
	"cache.md": `---
date: 2023-04-05
---
# Cache

A cache keeps copies of slow answers.

## 3.1 Eviction

The cache evicts the entry that was used least recently. Eviction happens when the limit of 512 entries is reached.

**Table 2.** Limits of the cache

| Kind | Entries |
|---|---|
| small | 16 |

Table 20 lists other things.

## 3.10 Metrics

Hits and misses are counted.

## 13.1 Unlucky

Never mind.

**Theorem 3.1 (Bound).** The hit rate never falls below the optimum by more than a factor of two.

**Theorem 3.10.** Something else.

By Theorem 3.1 the rate is bounded.
`,
	"lock.html": `<title>sync</title><h1>sync</h1><p>Package sync provides locks.</p><section id="pkg"><h2>type Mutex</h2>
		<p>A Mutex is a mutual exclusion lock. Its zero value is an unlocked mutex.</p></section>
		<dl><dt id="m.Lock">sync.Mutex.Lock()</dt><dd>Locks it. If the lock is in use, the caller waits.</dd>
		<dt id="opt">-t, --timeout=N</dt><dd>How long it waits.</dd></dl>`,
	"chapter.txt":  "Chapter 3. Storage\n==================\n\nDisks are slow. Eviction of pages costs time.\n",
	"copy/one.txt": "This very paragraph about walruses stands in two files.",
	"copy/two.txt": "This very paragraph about walruses stands in two files.",
	"zh.md":        "# 缓存\n\n缓存淘汰策略决定了哪些条目会被删除。搜索引擎使用倒排索引。\n\n## 第3章 存储\n\n磁盘很慢。\n",
	"fr.md":        "Le café coûte trois francs à Genève.",
}

func TestSearch(t *testing.T) {
	t.Parallel()
	b := ingested(t, manual)
	for _, tc := range []struct {
		query string
		mode  knowledge.Mode
		first string // document of the best passage; empty = nothing is found
		has   string // in the best passage
	}{
		{"Which entry does the cache evict?", knowledge.Hybrid, "cache.md", "least recently"},
		{"evicting entries", knowledge.Naive, "cache.md", "least recently"},
		{"mutual exclusion", knowledge.Naive, "lock.html", "zero value"},
		{"cafe geneve", knowledge.Hybrid, "fr.md", "café"},
		{"缓存淘汰", knowledge.Hybrid, "zh.md", "淘汰"},
		{"倒排索引", knowledge.Naive, "zh.md", "倒排"},
		{"慢", knowledge.Naive, "zh.md", "磁盘"},
		{"引", knowledge.Naive, "zh.md", "倒排"},
		{"walruses", knowledge.Hybrid, "copy/one.txt", "walruses"},
		{"512", knowledge.Naive, "cache.md", "512"},
		{"zebra", knowledge.Hybrid, "", ""},
		{"", knowledge.Hybrid, "", ""},
		{"?!", knowledge.Naive, "", ""},
		{"what is the of", knowledge.Naive, "copy/one.txt", ""}, // stop words are all there is
	} {
		t.Run(string(tc.mode)+" "+tc.query, func(t *testing.T) {
			t.Parallel()
			found, err := b.Search(t.Context(), tc.query, 5, tc.mode)
			if err != nil {
				t.Fatal(err)
			}
			if tc.first == "" || len(found) == 0 {
				if tc.first != "" || len(found) != 0 {
					t.Errorf("found %v, want %q", found, tc.first)
				}
				return
			}
			if tc.has != "" && found[0].Document != tc.first || !strings.Contains(found[0].Text, tc.has) {
				t.Errorf("found %s: %q", found[0].Document, found[0].Text)
			}
			again, err := b.Search(t.Context(), tc.query, 5, tc.mode)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(found, again); diff != "" {
				t.Errorf("a second search differs:\n%s", diff)
			}
		})
	}
}

// A passage knows how its document begins, unless it begins with that itself.
func TestPassagesKnowTheHead(t *testing.T) {
	t.Parallel()
	b := ingested(t, files{
		"report.md": "# Harbour heat\n\nReport of the Harbour Authority\n\nPublished 18 February 2023\n\nThe pump has run since 2021.\n\n" +
			"## Costs\n\nThe pump cost 41.6 million euros.\n",
		"plain.md": "# Boats\n\nBoats are painted each spring.\n\n## Paint\n\nThe paint of boats is red.\n",
	})
	for query, want := range map[string]string{
		"pump cost million":  "Report of the Harbour Authority · Published 18 February 2023 · The pump has run since 2021.",
		"pump has run since": "", "paint red": "Boats are painted each spring.",
	} {
		found, err := b.Search(t.Context(), query, 1, knowledge.Hybrid)
		if err != nil || len(found) != 1 || !strings.HasSuffix(found[0].Head, want) || want == "" && found[0].Head != "" {
			t.Errorf("%s: %+v, %v, want the head %q", query, found, err, want)
		}
	}
}

func TestPassageFields(t *testing.T) {
	t.Parallel()
	b := ingested(t, manual)
	found, err := b.Search(t.Context(), "evicted least recently used", 1, knowledge.Hybrid)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	p := found[0]
	if p.Title != "Cache" || p.Date != "2023-04-05" || p.Anchor != "31-eviction" || p.Page != 0 || len(p.Hash) != 64 || p.Score <= 0 {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff([]string{"3.1 Eviction"}, p.Section); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Text(t.Context(), "none.md"); !errors.Is(err, knowledge.ErrNotFound) {
		t.Errorf("text of no document: %v", err)
	}
	if _, err := b.Search(t.Context(), "x", 1, "other"); err == nil {
		t.Error("an unknown mode is searched")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("closed")
	cancel(why)
	if _, err := b.Search(ctx, "cache", 1, knowledge.Hybrid); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCopiesAreFolded(t *testing.T) {
	t.Parallel()
	b := ingested(t, manual)
	for _, mode := range []knowledge.Mode{knowledge.Naive, knowledge.Hybrid} {
		if found, err := b.Search(t.Context(), "walruses", 5, mode); err != nil || len(found) != 1 {
			t.Errorf("%s: %d passages, %v", mode, len(found), err)
		}
	}
}

func TestHybridComesFromSeveralDocuments(t *testing.T) {
	t.Parallel()
	f := files{}
	var long strings.Builder
	for i := range 12 {
		fmt.Fprintf(&long, "## Otter part %d\n\nThe otter and the otter and the otter number %d swim.\n\n", i, i)
	}
	f["book.md"] = "# Otter book\n\n" + long.String()
	for i := range 4 {
		f[fmt.Sprintf("note%d.md", i)] = fmt.Sprintf("# Note %d\n\nOnce, among many other things that were seen on day %d, an otter came by the pond.\n", i, i)
	}
	b := ingested(t, f)
	found, err := b.Search(t.Context(), "otter", 6, knowledge.Hybrid)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, p := range found {
		count[p.Document]++
	}
	if len(found) != 6 || count["book.md"] > 4 {
		t.Errorf("%d passages: %v", len(found), count)
	}
	if found, err = b.Search(t.Context(), "otter part", 16, knowledge.Hybrid); err != nil || len(found) != 16 {
		t.Errorf("%d passages, %v: what exceeds a share must come later, not go", len(found), err)
	}
}

func TestItem(t *testing.T) {
	t.Parallel()
	b := ingested(t, manual)
	for _, tc := range []struct{ name, document, anchor, has string }{
		{"Theorem 3.1", "cache.md", "131-unlucky", "The hit rate never falls"},
		{"thm. 3.1", "cache.md", "131-unlucky", "The hit rate never falls"},
		{"Table 2", "cache.md", "31-eviction", "Limits of the cache"},
		{"Tab. 2", "cache.md", "31-eviction", "Limits of the cache"},
		{"§ 3.1", "cache.md", "31-eviction", "least recently"},
		{"§3.1", "cache.md", "31-eviction", "least recently"},
		{"Section 3.10", "cache.md", "310-metrics", "Hits and misses"},
		{"3.1", "cache.md", "31-eviction", "least recently"},
		{"Chapter 3", "chapter.txt", "", "Disks are slow"},
		{"eviction", "cache.md", "31-eviction", "least recently"},
		{"sync.Mutex", "lock.html", "pkg", "zero value"},
		{"the `sync.Mutex` type", "lock.html", "pkg", "zero value"},
		{"Mutex", "lock.html", "pkg", "zero value"},
		{"sync.Mutex.Lock", "lock.html", "m.Lock", "the caller waits"},
		{"sync.Mutex.Lock()", "lock.html", "m.Lock", "the caller waits"},
		{"--timeout", "lock.html", "opt", "How long"},
		{"第3章", "zh.md", "第3章-存储", "磁盘"},
		{"zero value", "lock.html", "pkg", "zero value"},
		{"Theorem 3", "", "", ""},
		{"Theorem 1", "", "", ""},
		{"Table 1", "", "", ""},
		{"3.1.0", "", "", ""},
		{"§ 1", "", "", ""},
		{"", "", "", ""},
		{"zebra", "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			found, err := b.Item(t.Context(), tc.name, 3)
			if err != nil {
				t.Fatal(err)
			}
			if tc.document == "" {
				if len(found) > 0 {
					t.Errorf("found %s %q", found[0].Document, found[0].Text)
				}
				return
			}
			if len(found) == 0 {
				t.Fatal("nothing is found")
			}
			p := found[0]
			if p.Document != tc.document || p.Anchor != tc.anchor || !strings.Contains(p.Text, tc.has) {
				t.Errorf("found %s#%s: %q", p.Document, p.Anchor, p.Text)
			}
		})
	}
}

func TestSections(t *testing.T) {
	t.Parallel()
	b := ingested(t, manual)
	hits, err := b.Sections(t.Context(), "cache eviction", 3)
	if err != nil || len(hits) != 3 {
		t.Fatal(hits, err)
	}
	h := hits[0]
	if h.Document != "cache.md" || h.Title != "Cache" || h.Anchor != "31-eviction" || h.Passages != 1 || h.Score <= hits[1].Score ||
		!strings.HasPrefix(h.Lead, "The cache evicts the entry") {
		t.Errorf("%+v", h)
	}
	if hits, err = b.Sections(t.Context(), "zebra", 3); err != nil || len(hits) != 0 {
		t.Errorf("%v, %v", hits, err)
	}
}

// Whatever stands in a query is words, never syntax.
func TestQueriesAreNotSyntax(t *testing.T) {
	t.Parallel()
	b := ingested(t, manual)
	for _, q := range attacks {
		ask(t, b, q)
	}
}

var attacks = []string{
	`"`, `""`, `" OR "`, `cache"`, `cache AND`, `NOT cache`, `NEAR(`, `NEAR(a b, 5)`, `title:cache`, `{title} : x`, `^cache`, `cache*`,
	`(`, `)`, `a + b`, `- x`, `'; DROP TABLE words; --`, "\x00", "a\x00b", "\xff\xfe", `\`, `cache:`, `-`, `*`, `€`, "́", "🙂", "ª",
	`C++`, `3.1`, `a/b`, "缓", `"缓`, strings.Repeat("word ", 5000), strings.Repeat("a", 100_000), strings.Repeat("(", 1000), "AND OR NOT NEAR",
}

func ask(t *testing.T, b *knowledge.Base, q string) {
	t.Helper()
	for _, mode := range []knowledge.Mode{knowledge.Naive, knowledge.Hybrid} {
		if _, err := b.Search(t.Context(), q, 3, mode); err != nil {
			t.Errorf("%s search for %.80q: %v", mode, q, err)
		}
	}
	if _, err := b.Item(t.Context(), q, 3); err != nil {
		t.Errorf("item %.80q: %v", q, err)
	}
	if _, err := b.Sections(t.Context(), q, 3); err != nil {
		t.Errorf("sections for %.80q: %v", q, err)
	}
}

func FuzzQuery(f *testing.F) {
	for _, q := range attacks {
		f.Add(q)
	}
	b := ingested(f, manual)
	f.Fuzz(func(t *testing.T, q string) { ask(t, b, q) })
}

// What holds a query word for word comes first, though the titles of others have its words, and Like finds it by words alone.
func TestWordForWord(t *testing.T) {
	t.Parallel()
	f := files{"today.md": "# In short\n\nThe mill stands by the river. A wind turbine of 3,300 kilowatts feeds the works of Alder Optics. Its hall is long.\n"}
	for _, name := range []string{"press", "about", "log", "forum", "news", "stock", "help"} {
		f[name+".md"] = fmt.Sprintf("# The works of Alder Optics: %s\n\n## Alder Optics: wind, works, %s\n\nAlder Optics tells of its %s. The works of Alder Optics feed the town.\n", name, name, name)
	}
	b := ingested(t, f)
	const sentence = "A wind turbine of 3,300 kilowatts feeds the works of Alder Optics."
	found, err := b.Search(t.Context(), sentence, 3, knowledge.Hybrid)
	if err != nil || len(found) != 3 || found[0].Document != "today.md" {
		t.Errorf("%+v, %v", found, err)
	}
	like, err := b.Like(t.Context(), sentence, 1)
	if err != nil || len(like) != 1 || like[0].Document != "today.md" || !strings.Contains(like[0].Text, sentence) {
		t.Errorf("%+v, %v", like, err)
	}
}
