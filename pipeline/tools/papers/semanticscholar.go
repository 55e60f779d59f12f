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

// decodeSemanticScholar parses a page of papers.
var decodeSemanticScholar = decoder("data", func(s loosejson.Value) (Paper, bool) {
	p := Paper{
		Title: s.Text("title"), Abstract: s.Text("abstract"),
		ArXiv: canonicalArXiv(s.Text("externalIds.ArXiv")), PMID: canonicalPMID(s.Text("externalIds.PubMed")),
		PMCID: canonicalPMCID(s.Text("externalIds.PubMedCentral")), Venue: cmp.Or(s.Text("venue"), s.Text("journal.name")),
		Date: date(s.Text("publicationDate")), CitedBy: s.Number("citationCount"), URL: s.Text("url"),
		PDF: s.Text("openAccessPdf.url"), Authors: names(s.List("authors"), "name"),
	}
	if p.Date == "" {
		p.Date = year(s.Number("year"), "")
	}
	p.addDOI(s.Text("externalIds.DOI"))
	types := s.Texts("publicationTypes")
	switch {
	case p.DOI == "" && p.ArXiv != "" && (p.Venue == "" || strings.HasPrefix(p.Venue, "arXiv")):
		p.Kind, p.Venue = KindPreprint, "arXiv"
	case slices.Contains(types, "Review"):
		p.Kind = KindReview
	case slices.Contains(types, "Conference"):
		p.Kind = KindConference
	case slices.Contains(types, "JournalArticle"):
		p.Kind = KindArticle
	case slices.Contains(types, "BookSection"):
		p.Kind = KindChapter
	case slices.Contains(types, "Book"):
		p.Kind = KindBook
	}
	return p, true
})
