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

// crossref queries GET /works (api.crossref.org). Each response header gives the allowed request rate, which is higher
// with the operator's address. Until the first response, the rate is the one that Crossref announced for lists of
// works.
func crossref(s Settings) service {
	address := s.address(Crossref, "https://api.crossref.org/works")
	every, atOnce := time.Second, 1
	if s.CrossrefMailto != "" {
		every, atOnce = 350*time.Millisecond, 3
	}
	return service{
		every: every, atOnce: atOnce,
		accept: []string{"application/json"},
		request: func(q Query) (string, url.Values, http.Header) {
			query := url.Values{
				"query": {q.text(false)}, "rows": {strconv.Itoa(q.Limit)},
				"select": {"DOI,type,title,subtitle,author,abstract,container-title,published,issued,posted," +
					"is-referenced-by-count,URL,relation,updated-by,update-to"},
			}
			var filter []string
			if q.From != 0 {
				filter = append(filter, "from-pub-date:"+year(q.From, ""))
			}
			if q.To != 0 {
				filter = append(filter, "until-pub-date:"+year(q.To, ""))
			}
			if len(filter) > 0 {
				query.Set("filter", strings.Join(filter, ","))
			}
			if s.CrossrefMailto != "" {
				query.Set("mailto", s.CrossrefMailto)
			}
			return address, query, nil
		},
		decode: decodeCrossref, allowed: crossrefAllows,
	}
}

// crossrefAllows parses headers such as "x-rate-limit-limit: 50" and "x-rate-limit-interval: 1s".
func crossrefAllows(header http.Header) time.Duration {
	n, err := strconv.Atoi(header.Get("X-Rate-Limit-Limit"))
	interval, err2 := time.ParseDuration(header.Get("X-Rate-Limit-Interval"))
	if err != nil || err2 != nil || n <= 0 || interval <= 0 {
		return 0
	}
	return min(max(interval/time.Duration(n), 20*time.Millisecond), time.Minute)
}

type crossrefDate struct {
	Parts [][]int `json:"date-parts"` // [[2020, 5, 19]]; month and day may be missing; [[null]] is no date
}

func (d crossrefDate) text() string {
	if len(d.Parts) == 0 || len(d.Parts[0]) == 0 {
		return ""
	}
	text := fmt.Sprintf("%04d", d.Parts[0][0])
	for _, n := range d.Parts[0][1:] {
		text += fmt.Sprintf("-%02d", n)
	}
	return text
}

type crossrefWork struct {
	DOI      string   `json:"DOI"`
	Type     string   `json:"type"`
	Title    []string `json:"title"`
	Subtitle []string `json:"subtitle"`
	Author   []struct {
		Given  string `json:"given"`
		Family string `json:"family"`
		Name   string `json:"name"` // of a group
	} `json:"author"`
	Abstract  string       `json:"abstract"`
	Container []string     `json:"container-title"`
	Published crossrefDate `json:"published"`
	Issued    crossrefDate `json:"issued"`
	Posted    crossrefDate `json:"posted"`
	CitedBy   int          `json:"is-referenced-by-count"`
	URL       string       `json:"URL"`
	Updates   []struct {   // works that this work changes, which makes it a notice
		Type string `json:"type"`
	} `json:"update-to"`
	Updated []struct { // notices that changed this work
		Type string `json:"type"`
	} `json:"updated-by"`
	Relation map[string][]struct {
		Type string `json:"id-type"`
		ID   string `json:"id"`
	} `json:"relation"`
}

var crossrefKinds = map[string]string{
	"journal-article": KindArticle, "posted-content": KindPreprint, "proceedings-article": KindConference,
	"book":      KindBook,
	"monograph": KindBook, "edited-book": KindBook, "reference-book": KindBook, "book-chapter": KindChapter,
	"book-section": KindChapter,
	"book-part":    KindChapter, "reference-entry": KindChapter, "dissertation": KindThesis, "report": KindReport,
	"dataset": KindDataset,
}

// decodeCrossref parses a list of works. Other entries, such as journals and figures, are left out.
func decodeCrossref(body []byte) ([]Paper, error) {
	var answer struct {
		Message struct {
			Items *[]json.RawMessage `json:"items"`
		} `json:"message"`
	}
	if err := readJSON(body, &answer); err != nil {
		return nil, err
	}
	if answer.Message.Items == nil {
		return nil, fmt.Errorf("%w: it has no message.items", ErrFormat)
	}
	return each(*answer.Message.Items, func(w crossrefWork) (Paper, bool) {
		p := Paper{
			Title: plain(first(w.Title)), Abstract: plain(w.Abstract), Venue: plain(first(w.Container)),
			CitedBy: w.CitedBy, URL: w.URL,
			Kind: crossrefKinds[w.Type],
		}
		if sub := plain(first(w.Subtitle)); sub != "" && !strings.Contains(strings.ToLower(p.Title), strings.ToLower(sub)) {
			p.Title += ": " + sub
		}
		for _, d := range []crossrefDate{w.Published, w.Issued, w.Posted} {
			if p.Date == "" {
				p.Date = date(d.text())
			}
		}
		for _, a := range w.Author {
			p.Authors = append(p.Authors, plain(strings.TrimSpace(a.Given+" "+a.Family+a.Name)))
		}
		p.addDOI(w.DOI)
		for _, relation := range []string{"has-preprint", "is-preprint-of"} {
			for _, other := range w.Relation[relation] {
				if other.Type == "doi" || other.Type == "arxiv" {
					p.addDOI(other.ID)
				}
			}
		}
		for _, u := range w.Updated {
			p.Retracted = p.Retracted || slices.Contains([]string{"retraction", "withdrawal", "removal"},
				strings.ToLower(u.Type))
		}
		return p, p.Kind != "" && len(w.Updates) == 0
	})
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
