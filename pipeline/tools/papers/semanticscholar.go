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

// semanticScholar queries GET /graph/v1/paper/search (api.semanticscholar.org/api-docs). With a key, it allows one
// request a second. Without a key, all such users share one limit, and a refusal is likely.
func semanticScholar(s Settings) service {
	address := s.address(SemanticScholar, "https://api.semanticscholar.org/graph/v1/paper/search")
	every := 3 * time.Second
	header := http.Header{}
	if s.SemanticScholarKey != "" {
		every = 1100 * time.Millisecond // our clock and the server's seconds differ
		header.Set("x-api-key", s.SemanticScholarKey)
	}
	return service{
		every: every, atOnce: 1,
		accept: []string{"application/json"},
		request: func(q Query) (string, url.Values, http.Header) {
			query := url.Values{
				// per the documentation, hyphenated words yield no matches
				"query": {strings.ReplaceAll(q.text(false), "-", " ")},
				"limit": {strconv.Itoa(q.Limit)},
				"fields": {"title,abstract,authors,year,publicationDate,venue,journal,externalIds," +
					"openAccessPdf,citationCount,publicationTypes,url"},
			}
			if q.From != 0 || q.To != 0 {
				query.Set("year", year(q.From, "")+"-"+year(q.To, ""))
			}
			return address, query, header
		},
		decode: decodeSemanticScholar,
	}
}

type semanticScholarPaper struct {
	Title    string `json:"title"`
	Abstract string `json:"abstract"`
	Authors  []struct {
		Name string `json:"name"`
	} `json:"authors"`
	Year    int    `json:"year"`
	Date    string `json:"publicationDate"`
	Venue   string `json:"venue"`
	Journal struct {
		Name string `json:"name"`
	} `json:"journal"`
	IDs struct {
		DOI           string `json:"DOI"`
		ArXiv         string `json:"ArXiv"`
		PubMed        string `json:"PubMed"`
		PubMedCentral string `json:"PubMedCentral"`
	} `json:"externalIds"`
	PDF struct {
		URL string `json:"url"`
	} `json:"openAccessPdf"`
	CitedBy int      `json:"citationCount"`
	Types   []string `json:"publicationTypes"`
	URL     string   `json:"url"`
}

// decodeSemanticScholar parses a page of papers. An empty page has no data field.
func decodeSemanticScholar(body []byte) ([]Paper, error) {
	var answer struct {
		Total *int              `json:"total"`
		Data  []json.RawMessage `json:"data"`
	}
	if err := readJSON(body, &answer); err != nil {
		return nil, err
	}
	if answer.Total == nil && answer.Data == nil {
		return nil, fmt.Errorf("%w: it has neither total nor data", ErrFormat)
	}
	return each(answer.Data, func(s semanticScholarPaper) (Paper, bool) {
		p := Paper{
			Title: plain(s.Title), Abstract: plain(s.Abstract), ArXiv: canonicalArXiv(s.IDs.ArXiv),
			PMID:  canonicalPMID(s.IDs.PubMed),
			PMCID: canonicalPMCID(s.IDs.PubMedCentral), Venue: s.Venue, Date: date(s.Date), CitedBy: s.CitedBy, URL: s.URL,
			PDF: s.PDF.URL,
		}
		if p.Venue == "" {
			p.Venue = s.Journal.Name
		}
		if p.Date == "" && s.Year != 0 {
			p.Date = strconv.Itoa(s.Year)
		}
		for _, a := range s.Authors {
			p.Authors = append(p.Authors, a.Name)
		}
		p.addDOI(s.IDs.DOI)
		switch {
		case p.DOI == "" && p.ArXiv != "" && (p.Venue == "" || strings.HasPrefix(p.Venue, "arXiv")):
			p.Kind, p.Venue = KindPreprint, "arXiv"
		case slices.Contains(s.Types, "Review"):
			p.Kind = KindReview
		case slices.Contains(s.Types, "Conference"):
			p.Kind = KindConference
		case slices.Contains(s.Types, "JournalArticle"):
			p.Kind = KindArticle
		case slices.Contains(s.Types, "BookSection"):
			p.Kind = KindChapter
		case slices.Contains(s.Types, "Book"):
			p.Kind = KindBook
		}
		return p, true
	})
}
