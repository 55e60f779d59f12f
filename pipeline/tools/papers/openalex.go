package papers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
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

type openAlexLocation struct {
	LandingPage string `json:"landing_page_url"`
	PDF         string `json:"pdf_url"`
	Version     string `json:"version"`
	Source      struct {
		Name string `json:"display_name"`
		Type string `json:"type"`
	} `json:"source"`
}

type openAlexWork struct {
	ID          string `json:"id"`
	DOI         string `json:"doi"`
	Title       string `json:"title"`
	Type        string `json:"type"`
	Date        string `json:"publication_date"`
	CitedBy     int    `json:"cited_by_count"`
	Retracted   bool   `json:"is_retracted"`
	Paratext    bool   `json:"is_paratext"`
	Authorships []struct {
		Author struct {
			Name string `json:"display_name"`
		} `json:"author"`
	} `json:"authorships"`
	IDs struct {
		PMID  string `json:"pmid"`
		PMCID string `json:"pmcid"`
	} `json:"ids"`
	Primary   openAlexLocation   `json:"primary_location"`
	BestOA    openAlexLocation   `json:"best_oa_location"`
	Locations []openAlexLocation `json:"locations"`
	Abstract  map[string][]int   `json:"abstract_inverted_index"`
}

var openAlexKinds = map[string]string{
	"article": KindArticle, "preprint": KindPreprint, "review": KindReview, "book": KindBook, "book-chapter": KindChapter,
	"dissertation": KindThesis, "report": KindReport, "dataset": KindDataset, "conference-paper": KindConference,
}

// decodeOpenAlex parses a list of works.
func decodeOpenAlex(body []byte) ([]Paper, error) {
	var answer struct {
		Results *[]json.RawMessage `json:"results"`
	}
	if err := readJSON(body, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, fmt.Errorf("%w: it has no results", ErrFormat)
	}
	return each(*answer.Results, func(w openAlexWork) (Paper, bool) {
		p := Paper{
			Title: plain(w.Title), Abstract: plain(invert(w.Abstract)), Date: w.Date, CitedBy: w.CitedBy, Retracted: w.Retracted,
			PMID: canonicalPMID(w.IDs.PMID), PMCID: canonicalPMCID(w.IDs.PMCID), Venue: plain(w.Primary.Source.Name),
			URL: w.Primary.LandingPage, PDF: w.BestOA.PDF, Kind: openAlexKinds[w.Type],
		}
		for _, a := range w.Authorships {
			p.Authors = append(p.Authors, a.Author.Name)
		}
		p.addDOI(w.DOI)
		for _, l := range append([]openAlexLocation{w.Primary}, w.Locations...) {
			if id := canonicalArXiv(l.LandingPage); id != "" && p.ArXiv == "" {
				p.ArXiv = id
			}
		}
		if p.Kind == KindArticle && w.Primary.Source.Type == "repository" && w.Primary.Version == "submittedVersion" {
			p.Kind = KindPreprint
		}
		return p, !w.Paratext && !slices.Contains([]string{"paratext", "peer-review", "supplementary-materials", "erratum",
			"retraction", "grant"}, w.Type)
	})
}

// maxPosition is the maximum number of words in an abstract.
const maxPosition = 20_000

// invert converts an inverted index, from words to their positions, to text.
func invert(index map[string][]int) string {
	places := map[int]string{}
	for word, at := range index {
		for _, n := range at {
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
