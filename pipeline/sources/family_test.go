package sources_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/sources"
	"nightdesk/topicqueue"
)

// prose returns n words of one of many texts.
func prose(seed, n int) string {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "w%d", r.IntN(2000))
	}
	return b.String()
}

func web(url, text string) (topicqueue.Source, string) {
	return sources.Describe(topicqueue.Source{Kind: topicqueue.SourceWeb, URL: url, Hash: topicqueue.TextHash(text)}, sources.Page{}), text
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	release := prose(1, 300)
	changed := strings.Fields(release)
	for i := 0; i < 300; i += 60 {
		changed[i] = "changed"
	}
	var list []topicqueue.Source
	var sketches []sources.Sketch
	var names []string
	add := func(name string, s topicqueue.Source, text string) {
		names, list, sketches = append(names, name), append(list, s), append(sketches, sources.NewSketch(text))
	}
	addWeb := func(name, url, text string) {
		s, text := web(url, text)
		add(name, s, text)
	}
	addWeb("release", "https://acme.example/press/1", release)
	addWeb("mirror", "https://mirror.example/x", release)
	addWeb("edited", "https://paper.example/y", "Harbour, Monday. "+strings.ToUpper(strings.Join(changed, "  ")))
	addWeb("framed", "https://portal.example/z", prose(2, 120)+" "+release+" "+prose(3, 150))
	addWeb("half", "https://other.example/h", strings.Join(strings.Fields(release)[:150], " ")+" "+prose(4, 150))
	addWeb("alien", "https://else.example/a", prose(5, 300))
	addWeb("page", "http://www.site.example/p/?utm_source=x&b=2&a=1#top", prose(6, 100))
	addWeb("page again", "https://site.example/p?a=1&b=2", "a short extract")
	addWeb("page 2", "https://site.example/p?a=2&b=2", "another short extract")
	addWeb("paper", "https://arxiv.org/abs/2401.01234", "An abstract.")
	addWeb("its PDF", "https://arxiv.org/pdf/2401.01234v2", prose(7, 900))
	addWeb("other paper", "https://arxiv.org/abs/2401.012345", "Another abstract.")
	add("its record", topicqueue.Source{Kind: topicqueue.SourcePaper, DOI: "10.48550/arxiv.2401.01234", Hash: "x"}, "")
	addWeb("journal", "https://doi.org/10.1000/ABC.1", "x y")
	add("its DOI", topicqueue.Source{Kind: topicqueue.SourcePaper, DOI: "10.1000/abc.1", Hash: "y"}, "")
	add("passage", topicqueue.Source{Kind: topicqueue.SourceDocument, Document: "a.md", Hash: "1"}, "")
	add("passage 2", topicqueue.Source{Kind: topicqueue.SourceDocument, Document: "a.md", Hash: "2"}, "")
	add("other document", topicqueue.Source{Kind: topicqueue.SourceDocument, Document: "b.md", Hash: "3"}, "")
	addWeb("empty", "https://e.example/1", "")
	addWeb("empty too", "https://e.example/2", "")

	want := map[string]string{
		"mirror": "release", "edited": "release", "framed": "release", "page again": "page", "its PDF": "paper", "its record": "paper",
		"its DOI": "journal", "passage 2": "passage",
	}
	families := sources.Families(list, sketches)
	for i, name := range names {
		first := name
		if w := want[name]; w != "" {
			first = w
		}
		if got := names[families[i]]; got != first {
			t.Errorf("%s: family of %s, want %s", name, got, first)
		}
	}
	origins := sources.Origins(list, families)
	for pair, same := range map[[2]string]bool{
		{"page", "page 2"}: true, {"paper", "other paper"}: false, {"release", "framed"}: true, {"release", "alien"}: false,
		{"passage", "other document"}: false, {"empty", "empty too"}: true,
	} {
		a, b := slices.Index(names, pair[0]), slices.Index(names, pair[1])
		if got := origins[a] == origins[b]; got != same {
			t.Errorf("%v of one origin: %v", pair, got)
		}
	}
	if without := sources.Families(list, make([]sources.Sketch, len(list))); without[1] != 0 || without[2] == 0 {
		t.Errorf("without texts: %v", without)
	}
}

// One publisher with two domains is one origin. One journal is not.
func TestPublishers(t *testing.T) {
	t.Parallel()
	list := []topicqueue.Source{
		{Kind: topicqueue.SourceWeb, Domain: "a.example", Publisher: "The Desk", Hash: "1"},
		{Kind: topicqueue.SourceWeb, Domain: "b.example", Publisher: "the  desk", Hash: "2"},
		{Kind: topicqueue.SourcePaper, Domain: "doi.org", Publisher: "Journal of Queues", Hash: "3"},
		{Kind: topicqueue.SourcePaper, Domain: "doi.org", Publisher: "Journal of Queues", Hash: "4"},
	}
	families := sources.Families(list, make([]sources.Sketch, 4))
	if got := sources.Origins(list, families); !slices.Equal(families, []int{0, 1, 2, 3}) || !slices.Equal(got, []int{0, 0, 2, 3}) {
		t.Errorf("families %v, origins %v", families, got)
	}
}

// Copies of a text with removed sentences or changed words are found, and other texts are not.
func TestCopiesOfManyLengths(t *testing.T) {
	t.Parallel()
	for _, n := range []int{60, 200, 1000, 20_000} {
		text := prose(n, n)
		words := strings.Fields(text)
		for i := 0; i < n; i += 50 {
			words[i] = "other"
		}
		list := []topicqueue.Source{{Hash: "1"}, {Hash: "2"}, {Hash: "3"}}
		got := sources.Families(list, []sources.Sketch{sources.NewSketch(text), sources.NewSketch(strings.Join(words, " ")), sources.NewSketch(prose(n+1, n))})
		if !slices.Equal(got, []int{0, 0, 2}) {
			t.Errorf("%d words: %v", n, got)
		}
	}
}

func FuzzSketch(f *testing.F) {
	f.Add("Some words, 一些字 and more", "more words")
	f.Fuzz(func(t *testing.T, a, b string) {
		sa := sources.NewSketch(a)
		if !slices.IsSorted(sa) || !slices.Equal(sa, sources.NewSketch(strings.ToLower(strings.ToLower(a)))) && a == strings.ToLower(a) {
			t.Errorf("%q: %v", a, sa)
		}
		list := []topicqueue.Source{{URL: a, Hash: "1"}, {URL: b, Hash: "2"}}
		one := sources.Families(list, []sources.Sketch{sa, sources.NewSketch(b)})
		slices.Reverse(list)
		two := sources.Families(list, []sources.Sketch{sources.NewSketch(b), sa})
		if (one[0] == one[1]) != (two[0] == two[1]) {
			t.Errorf("%q and %q: the order counts", a, b)
		}
		sources.Describe(list[0], sources.Page{})
	})
}

func BenchmarkFamilies500(b *testing.B) {
	list := make([]topicqueue.Source, 500)
	texts := make([]string, 500)
	for i := range list {
		texts[i] = prose(i/2, 3000)
		list[i].Hash = fmt.Sprint(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		sketches := make([]sources.Sketch, 500)
		for i, text := range texts {
			sketches[i] = sources.NewSketch(text)
		}
		sources.Families(list, sketches)
	}
}
