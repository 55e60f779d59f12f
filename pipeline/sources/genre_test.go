package sources_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"nightdesk/pipeline/sources"
	"nightdesk/topicqueue"
)

// testdata/genres.txt has an address and its genre, as a reader would name it, on each line.
func TestGenresOfRealAddresses(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/genres.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		n++
		s := sources.Describe(topicqueue.Source{Kind: topicqueue.SourceWeb, URL: fields[1]}, sources.Page{})
		if s.Genre != fields[0] {
			t.Errorf("%s: got %s, want %s", fields[1], s.Genre, fields[0])
		}
	}
	if t.Logf("%d addresses", n); n < 150 {
		t.Errorf("only %d addresses", n)
	}
}

func TestGenreFromMoreThanTheAddress(t *testing.T) {
	t.Parallel()
	web := func(url string) topicqueue.Source { return topicqueue.Source{Kind: topicqueue.SourceWeb, URL: url} }
	for name, tc := range map[string]struct {
		source topicqueue.Source
		page   sources.Page
		want   string
	}{
		"paper by the tool":                {topicqueue.Source{Kind: topicqueue.SourcePaper, URL: "https://doi.org/10.1/x"}, sources.Page{}, topicqueue.GenrePaper},
		"preprint by the host":             {topicqueue.Source{Kind: topicqueue.SourcePaper, URL: "https://arxiv.org/abs/2401.01234"}, sources.Page{}, topicqueue.GenrePreprint},
		"preprint by the publisher":        {topicqueue.Source{Kind: topicqueue.SourcePaper, Publisher: "bioRxiv (Cold Spring Harbor)"}, sources.Page{}, topicqueue.GenrePreprint},
		"program":                          {topicqueue.Source{Kind: topicqueue.SourceCode}, sources.Page{}, topicqueue.GenreUnknown},
		"passage of a file":                {topicqueue.Source{Kind: topicqueue.SourceDocument, Document: "handbook.pdf"}, sources.Page{}, topicqueue.GenreUnknown},
		"passage of a paper":               {topicqueue.Source{Kind: topicqueue.SourceDocument, Document: "x.pdf", DOI: "10.1000/x"}, sources.Page{}, topicqueue.GenrePaper},
		"passage of a page":                {topicqueue.Source{Kind: topicqueue.SourceDocument, Document: "https://docs.python.org/3/", URL: "https://docs.python.org/3/"}, sources.Page{}, topicqueue.GenreDocumentation},
		"known already":                    {topicqueue.Source{Kind: topicqueue.SourceWeb, URL: "https://arxiv.org/", Genre: topicqueue.GenreNews}, sources.Page{}, topicqueue.GenreNews},
		"citation elements":                {web("https://lab.example/p/7"), sources.Page{Paper: true}, topicqueue.GenrePaper},
		"news in linked data":              {web("https://townpaper.example/a/1"), sources.Page{Schema: "NewsArticle", Type: "article"}, topicqueue.GenreNews},
		"news over the path":               {web("https://townpaper.example/blog/1"), sources.Page{Schema: "NewsArticle"}, topicqueue.GenreNews},
		"host over linked data":            {web("https://en.wikipedia.org/wiki/X"), sources.Page{Schema: "NewsArticle"}, topicqueue.GenreReference},
		"product":                          {web("https://tools.example/drill"), sources.Page{Type: "product"}, topicqueue.GenreShop},
		"video":                            {web("https://clips.example/9"), sources.Page{Type: "video.other"}, topicqueue.GenreVideo},
		"article of nobody in particular":  {web("https://acme.example/x"), sources.Page{Type: "article"}, topicqueue.GenreUnknown},
		"no address at all":                {web(""), sources.Page{}, topicqueue.GenreUnknown},
		"an address that cannot be parsed": {web("https://[::1"), sources.Page{}, topicqueue.GenreUnknown},
	} {
		if got := sources.Describe(tc.source, tc.page).Genre; got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

func TestDomain(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://www.example.co.uk/x":     "example.co.uk",
		"http://EN.Wikipedia.org:80/wiki": "wikipedia.org",
		"https://jane.github.io/x":        "jane.github.io",
		"https://docs.rs/serde":           "docs.rs",
		"https://10.1.2.3:8080/x":         "10.1.2.3",
		"http://localhost/x":              "localhost",
		"https://www.bbc.co.uk./news":     "bbc.co.uk",
		"https://müller.example/x":        "müller.example",
		"ftp://a.example/x":               "", "handbook.pdf": "", "": "", "https://[::1": "",
	} {
		if got := sources.Domain(url); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}
