package tools_test

import (
	"net/http"
	"testing"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// TestPageSaysWhatItIs: the metadata of a page determine the genre of the source and the name of its site.
func TestPageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	heads := map[string]string{
		topicqueue.GenreNews: `<script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"WebSite"},` +
			`{"@type":["NewsArticle"],"datePublished":"2026-01-02"}]}</script>`,
		topicqueue.GenrePaper:         `<meta name="citation_title" content="On queues">`,
		topicqueue.GenreDocumentation: `<meta name="generator" content="Docusaurus v3.1">`,
		topicqueue.GenreForum:         `<script type="application/ld+json">{"@type":"QAPage","mainEntity":{"@type":"Question"}}</script>`,
		topicqueue.GenreShop:          `<meta property="og:type" content="product">`,
		topicqueue.GenreUnknown:       `<meta property="og:type" content="article"><script type="application/ld+json">{"@type":"Product"}</script>`,
	}
	tool, site := opener(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<html><head><meta property="og:site_name" content="The Desk">` + heads[r.URL.Path[1:]] + `</head><body><p>A page with words.</body></html>`))
	})
	for want := range heads {
		result, err := tool.Call(t.Context(), tools.Call{Query: site + "/" + want})
		if err != nil || len(result.Sources) != 1 {
			t.Fatalf("%+v, %v", result, err)
		}
		if s := result.Sources[0]; s.Genre != want || s.Publisher != "The Desk" || s.Domain != "127.0.0.1" {
			t.Errorf("%s: genre %s, publisher %q, domain %q", want, s.Genre, s.Publisher, s.Domain)
		}
	}
}
