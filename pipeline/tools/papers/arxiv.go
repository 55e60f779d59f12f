package papers

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"nightdesk/topicqueue"
)

// arXivEvery is the limit in arXiv's terms of use, for all machines of one user together: one request every three
// seconds, on one connection.
const arXivEvery = 3 * time.Second

// isWithdrawn matches a withdrawal note by an author, in the comment or in place of the abstract.
var isWithdrawn = regexp.MustCompile(`(?i)^\s*this (?:paper|article|manuscript|submission|work) ` +
	`(?:has been|was|is) withdrawn|\bwithdrawn by (?:the )?(?:author|arxiv)`)

// arXiv queries the Atom interface (info.arxiv.org/help/api/user-manual.html). An empty first page is sometimes wrong,
// with a total of all results or of 0 (github.com/lukasschwab/arxiv.py issues 129 and 158).
func arXiv(s Settings) service {
	address := s.address(ArXiv, "https://export.arxiv.org/api/query")
	return service{
		every: arXivEvery, atOnce: 1, single: true, twice: true,
		accept: []string{"application/atom+xml", "application/xml", "text/xml"},
		request: func(q Query) (string, url.Values, http.Header) {
			return address, url.Values{
				"search_query": {arXivQuery(q)}, "start": {"0"}, "max_results": {strconv.Itoa(q.Limit)},
				"sortBy": {"relevance"}, "sortOrder": {"descending"},
			}, nil
		},
		decode: decodeArXiv,
	}
}

// arXivQuery returns a query for all terms in any field.
func arXivQuery(q Query) string {
	var terms []string
	for _, t := range q.Terms {
		if strings.ContainsAny(t, " -'’.") { // one word here, several words in its index
			t = `"` + t + `"`
		}
		terms = append(terms, "all:"+t)
	}
	if q.From != 0 || q.To != 0 {
		terms = append(terms, "submittedDate:["+year(q.From, "1991")+"01010000 TO "+year(q.To, "2099")+"12312359]")
	}
	return strings.Join(terms, " AND ")
}

type arXivFeed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Entries []struct {
		ID        string   `xml:"http://www.w3.org/2005/Atom id"`
		Title     string   `xml:"http://www.w3.org/2005/Atom title"`
		Summary   string   `xml:"http://www.w3.org/2005/Atom summary"`
		Published string   `xml:"http://www.w3.org/2005/Atom published"`
		Authors   []string `xml:"http://www.w3.org/2005/Atom author>name"`
		Links     []struct {
			Title string `xml:"title,attr"`
			Href  string `xml:"href,attr"`
		} `xml:"http://www.w3.org/2005/Atom link"`
		DOI     string `xml:"http://arxiv.org/schemas/atom doi"`
		Journal string `xml:"http://arxiv.org/schemas/atom journal_ref"`
		Comment string `xml:"http://arxiv.org/schemas/atom comment"`
	} `xml:"http://www.w3.org/2005/Atom entry"`
}

// decodeArXiv parses a feed.
func decodeArXiv(body []byte) ([]Paper, error) {
	var feed arXivFeed
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = charset.NewReaderLabel
	if err := d.Decode(&feed); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	var papers []Paper
	for _, e := range feed.Entries {
		if strings.Contains(e.ID, "/api/errors") { // an error is a feed with one entry
			return nil, fmt.Errorf("%w: %.200q", ErrQuery, e.Summary)
		}
		p := Paper{
			Title: e.Title, Authors: e.Authors, Abstract: topicqueue.OneLine(e.Summary),
			ArXiv: canonicalArXiv(e.ID), Date: e.Published,
			URL: e.ID, Venue: "arXiv", Kind: KindPreprint, Retracted: isWithdrawn.MatchString(e.Comment) ||
				isWithdrawn.MatchString(e.Summary),
		}
		for _, l := range e.Links {
			if l.Title == "pdf" {
				p.PDF = strings.Replace(l.Href, "http://arxiv.org/", "https://arxiv.org/", 1)
			}
		}
		if p.addDOI(e.DOI); p.DOI != "" { // the author says that and where the paper was published
			p.Kind, p.Venue = KindArticle, strings.TrimSpace(e.Journal)
		}
		papers = append(papers, p)
	}
	return papers, nil
}
