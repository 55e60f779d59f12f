package papers

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"nightdesk/pipeline/tools/loosejson"
)

// openAlex queries GET /works (developers.openalex.org). A free key allows 1,000 searches a day. Without a key, about
// ten searches work; then it answers 429 with a Retry-After of hours. The operator's address (mailto) has no effect
// since 2026-02-13.
func openAlex(s Settings) service {
	address := s.address(OpenAlex, "https://api.openalex.org/works")
	return service{
		every: 200 * time.Millisecond, atOnce: 4, // it allows 100 requests a second
		accept: []string{"application/json"},
		request: func(q Query) (string, url.Values, http.Header) {
			query := url.Values{
				"search": {q.text(true)}, "per_page": {strconv.Itoa(q.Limit)},
				"select": {"id,doi,ids,title,authorships,publication_date,type,primary_location,best_oa_location," +
					"locations,cited_by_count,is_retracted,is_paratext,abstract_inverted_index"},
			}
			var filter []string
			if q.From != 0 {
				filter = append(filter, "from_publication_date:"+year(q.From, "")+"-01-01")
			}
			if q.To != 0 {
				filter = append(filter, "to_publication_date:"+year(q.To, "")+"-12-31")
			}
			if len(filter) > 0 {
				query.Set("filter", strings.Join(filter, ","))
			}
			if s.OpenAlexKey != "" {
				query.Set("api_key", s.OpenAlexKey)
			}
			return address, query, nil
		},
		decode: decodeOpenAlex,
	}
}

var openAlexKinds = map[string]string{
	"article": KindArticle, "preprint": KindPreprint, "review": KindReview, "book": KindBook, "book-chapter": KindChapter,
	"dissertation": KindThesis, "report": KindReport, "dataset": KindDataset, "conference-paper": KindConference,
}

// decodeOpenAlex parses a list of works. Entries that are not works, such as corrections, are left out.
var decodeOpenAlex = decoder("results", func(w loosejson.Value) (Paper, bool) {
	p := Paper{
		Title: w.Text("title"), Abstract: invert(w.Object("abstract_inverted_index")),
		Date: w.Text("publication_date"), CitedBy: w.Number("cited_by_count"), Retracted: w.Is("is_retracted"),
		PMID: canonicalPMID(w.Text("ids.pmid")), PMCID: canonicalPMCID(w.Text("ids.pmcid")),
		Venue: w.Text("primary_location.source.display_name"), URL: w.Text("primary_location.landing_page_url"),
		PDF: w.Text("best_oa_location.pdf_url"), Kind: openAlexKinds[w.Text("type")],
		Authors: names(w.List("authorships"), "author.display_name"),
	}
	p.addDOI(w.Text("doi"))
	for _, page := range append([]string{p.URL}, names(w.List("locations"), "landing_page_url")...) {
		p.ArXiv = cmp.Or(p.ArXiv, canonicalArXiv(page))
	}
	if p.Kind == KindArticle && w.Text("primary_location.source.type") == "repository" &&
		w.Text("primary_location.version") == "submittedVersion" {
		p.Kind = KindPreprint
	}
	return p, !w.Is("is_paratext") && !slices.Contains([]string{"paratext", "peer-review", "supplementary-materials",
		"erratum", "retraction", "grant"}, w.Text("type"))
})

// maxPosition is the maximum number of words in an abstract.
const maxPosition = 20_000

// invert converts an inverted index, from words to their positions, to text.
func invert(index map[string]loosejson.Value) string {
	places := map[int]string{}
	for word, at := range index {
		for _, position := range at.List("") {
			n := position.Number("")
			// for two words at one position, choose the same word every time
			if n >= 0 && n < maxPosition && (places[n] == "" || word < places[n]) {
				places[n] = word
			}
		}
	}
	order := make([]int, 0, len(places))
	for n := range places {
		order = append(order, n)
	}
	slices.Sort(order)
	words := make([]string, len(order))
	for i, n := range order {
		words[i] = places[n]
	}
	return strings.Join(words, " ")
}
