package corpustest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// found is a search result in SearXNG's JSON.
type found struct {
	URL           string   `json:"url"`
	Title         string   `json:"title"`
	Content       string   `json:"content"`
	Engine        string   `json:"engine"`
	Engines       []string `json:"engines"`
	Score         float64  `json:"score"`
	Category      string   `json:"category"`
	PublishedDate string   `json:"publishedDate,omitempty"`
}

// search answers GET /search?q=...&format=json like SearXNG. Pages that share more words with the query come first.
func (c *Corpus) search(w http.ResponseWriter, r *http.Request) {
	query := r.FormValue("q")
	if r.FormValue("format") != "json" {
		http.Error(w, "Forbidden", http.StatusForbidden)
		return
	}
	results := c.find(query)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"query": query, "number_of_results": len(results), "results": results,
		"answers": []string{}, "corrections": []string{}, "infoboxes": []string{}, "suggestions": []string{},
		"unresponsive_engines": [][]string{},
	})
}

func (c *Corpus) find(query string) []found {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.searched[query]++
	asked := map[string]bool{}
	for word := range strings.FieldsSeq(topicqueue.CanonicalQuery(query)) {
		if len(word) > 3 {
			asked[word] = true
		}
	}
	type hit struct {
		page    *Page
		score   float64
		snippet string
	}
	var hits []hit
	for _, p := range c.Pages {
		h := hit{page: p, score: 3 * overlap(asked, p.Title)}
		best := 0.0
		for _, fact := range p.Facts {
			s := overlap(asked, fact)
			h.score += s
			if h.snippet == "" || s > best {
				h.snippet, best = fact, s
			}
		}
		if h.score > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.page.URL, b.page.URL))
	})
	results := []found{}
	for _, h := range hits[:min(10, len(hits))] {
		c.found[h.page.URL]++
		results = append(results, found{
			URL: h.page.URL, Title: h.page.Title, Content: h.snippet + " ...", Engine: "corpus", Engines: []string{"corpus"},
			Score: h.score, Category: "general", PublishedDate: h.page.Date + "T08:00:00",
		})
	}
	return results
}

func overlap(asked map[string]bool, text string) float64 {
	n := 0.0
	for word := range strings.FieldsSeq(topicqueue.CanonicalQuery(text)) {
		if asked[word] {
			n++
		}
	}
	return n
}
