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

// europePMC queries the REST service (europepmc.org/RestfulWebService), which documents no rate limit.
func europePMC(s Settings) service {
	address := s.address(EuropePMC, "https://www.ebi.ac.uk/europepmc/webservices/rest/search")
	return service{
		every: 500 * time.Millisecond, atOnce: 2,
		accept: []string{"application/json"},
		request: func(q Query) (string, url.Values, http.Header) {
			query := q.text(true)
			if q.From != 0 || q.To != 0 {
				query += " AND (PUB_YEAR:[" + year(q.From, "1500") + " TO " + year(q.To, "2099") + "])"
			}
			return address, url.Values{"query": {query}, "format": {"json"}, "resultType": {"core"},
				"pageSize": {strconv.Itoa(q.Limit)}}, nil
		},
		decode: decodeEuropePMC,
	}
}

// decodeEuropePMC parses a page of results of type core. Patents and notices are left out.
var decodeEuropePMC = decoder("resultList.result", func(r loosejson.Value) (Paper, bool) {
	p := Paper{
		Title: r.Text("title"), Abstract: r.Text("abstractText"), PMID: canonicalPMID(r.Text("pmid")),
		PMCID: canonicalPMCID(r.Text("pmcid")), CitedBy: r.Number("citedByCount"), Kind: KindArticle,
		Date: cmp.Or(date(r.Text("firstPublicationDate")), date(r.Text("pubYear"))),
		// the publisher is the server of a preprint, such as bioRxiv
		Venue: cmp.Or(r.Text("journalInfo.journal.title"), r.Text("bookOrReportDetails.publisher")),
	}
	for _, a := range r.List("authorList.author") {
		name := strings.TrimSpace(a.Text("firstName") + " " + a.Text("lastName"))
		if a.Text("lastName") == "" {
			name = a.Text("fullName") + a.Text("collectiveName")
		}
		p.Authors = append(p.Authors, name)
	}
	if authors := r.Text("authorString"); len(p.Authors) == 0 && authors != "" {
		p.Authors = strings.Split(strings.TrimSuffix(authors, "."), ", ")
	}
	p.addDOI(r.Text("doi"))
	for _, f := range r.List("fullTextUrlList.fullTextUrl") {
		free := f.Text("availabilityCode") == "OA" || f.Text("availabilityCode") == "F"
		if p.PDF == "" && f.Text("documentStyle") == "pdf" && free {
			p.PDF = f.Text("url")
		}
	}
	types := strings.ToLower(strings.Join(r.Texts("pubTypeList.pubType"), "\n"))
	source := r.Text("source") // MED; PMC; PPR for preprints; PAT for patents
	switch {
	case source == "PPR" || strings.Contains(types, "preprint"):
		p.Kind = KindPreprint
	case strings.Contains(types, "review"):
		p.Kind = KindReview
	}
	p.Retracted = strings.Contains(types, "retracted publication")
	for _, correction := range names(r.List("commentCorrectionList.commentCorrection"), "type") {
		p.Retracted = p.Retracted || slices.Contains([]string{"retraction in", "retractionin"},
			strings.ToLower(correction))
	}
	return p, source != "PAT" && !strings.Contains(types, "retraction of publication") &&
		!strings.Contains(types, "erratum")
})
