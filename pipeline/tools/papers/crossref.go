package papers

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"nightdesk/pipeline/tools/loosejson"
)

// crossref queries GET /works (api.crossref.org) at the rate that Crossref announced for lists of works.
func crossref(s Settings) service {
	address := s.address(Crossref, "https://api.crossref.org/works")
	return service{
		every: time.Second, atOnce: 1,
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
			return address, query, nil
		},
		decode: decodeCrossref,
	}
}

// crossrefDay converts a date such as {"date-parts": [[2020, 5, 19]]}; month and day may be missing.
func crossrefDay(d loosejson.Value) string {
	text := ""
	for _, first := range d.List("date-parts")[:min(1, len(d.List("date-parts")))] {
		for i, n := range first.List("") {
			text += fmt.Sprintf([]string{"%04d", "-%02d"}[min(i, 1)], n.Number(""))
		}
	}
	return date(text)
}

var crossrefKinds = map[string]string{
	"journal-article": KindArticle, "posted-content": KindPreprint, "proceedings-article": KindConference,
	"book":      KindBook,
	"monograph": KindBook, "edited-book": KindBook, "reference-book": KindBook, "book-chapter": KindChapter,
	"book-section": KindChapter,
	"book-part":    KindChapter, "reference-entry": KindChapter, "dissertation": KindThesis, "report": KindReport,
	"dataset": KindDataset,
}

// decodeCrossref parses a list of works. Other entries, such as journals and figures, are left out, as are notices that
// change another work.
var decodeCrossref = decoder("message.items", func(w loosejson.Value) (Paper, bool) {
	p := Paper{
		Title: w.Text("title"), Abstract: w.Text("abstract"), Venue: w.Text("container-title"),
		CitedBy: w.Number("is-referenced-by-count"), URL: w.Text("URL"), Kind: crossrefKinds[w.Text("type")],
		Date: cmp.Or(crossrefDay(w.At("published")), crossrefDay(w.At("issued")), crossrefDay(w.At("posted"))),
	}
	sub := w.Text("subtitle")
	if sub != "" && !strings.Contains(strings.ToLower(p.Title), strings.ToLower(sub)) {
		p.Title += ": " + sub
	}
	for _, a := range w.List("author") { // a group has a name
		p.Authors = append(p.Authors, strings.TrimSpace(a.Text("given")+" "+a.Text("family")+a.Text("name")))
	}
	p.addDOI(w.Text("DOI"))
	for _, relation := range []string{"has-preprint", "is-preprint-of"} {
		for _, other := range w.List("relation." + relation) {
			if kind := other.Text("id-type"); kind == "doi" || kind == "arxiv" {
				p.addDOI(other.Text("id"))
			}
		}
	}
	for _, notice := range names(w.List("updated-by"), "type") {
		p.Retracted = p.Retracted || slices.Contains([]string{"retraction", "withdrawal", "removal"},
			strings.ToLower(notice))
	}
	return p, p.Kind != "" && len(w.List("update-to")) == 0
})
