package firmstest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// search answers like SearXNG; pages that share more words with the query come first. It finds pages that are served or
// temporarily unavailable, with their excerpts, but not deleted pages.
func (w *Web) search(rw http.ResponseWriter, r *http.Request) {
	type found struct {
		URL     string  `json:"url"`
		Title   string  `json:"title"`
		Content string  `json:"content"`
		Engine  string  `json:"engine"`
		Score   float64 `json:"score"`
	}
	asked := strings.Fields(topicqueue.CanonicalQuery(r.FormValue("q")))
	results := []found{}
	for _, f := range w.Firms {
		if !slices.Contains(asked, strings.ToLower(strings.Fields(f.Name)[0])) {
			continue
		}
		for _, p := range f.Pages {
			if p.State == "404" || p.State == "410" || p.State == "soft 404" {
				continue
			}
			score, best, content := 3*shared(asked, p.Title), -1.0, ""
			lines := f.lines(p)
			for i, line := range lines {
				s := shared(asked, line)
				if score += s; s > best {
					best, content = s, strings.Join(lines[i:min(i+2, len(lines))], " ")
				}
			}
			results = append(results, found{URL: w.url(f, p), Title: p.Title, Content: clip(content),
				Engine: "web", Score: score})
		}
	}
	slices.SortStableFunc(results, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URL, b.URL))
	})
	results = results[:min(10, len(results))]
	for _, r := range results {
		w.shown = append(w.shown, r.Content)
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{"query": r.FormValue("q"), "results": results})
}

func shared(asked []string, text string) (n float64) {
	for word := range strings.FieldsSeq(topicqueue.CanonicalQuery(text)) {
		if len(word) > 3 && slices.Contains(asked, word) {
			n++
		}
	}
	return n
}

// clip cuts an excerpt in the middle of its text, as search engines do.
func clip(text string) string {
	const most = 170
	if len(text) <= most {
		return text
	}
	return text[:strings.LastIndexByte(text[:most], ' ')] + " ..."
}
