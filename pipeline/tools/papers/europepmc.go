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

type europePMCResult struct {
	Source       string `json:"source"` // MED; PMC; PPR for preprints; PAT for patents
	PMID         string `json:"pmid"`
	PMCID        string `json:"pmcid"`
	DOI          string `json:"doi"`
	Title        string `json:"title"`
	AuthorString string `json:"authorString"`
	AuthorList   struct {
		Author []struct {
			FullName   string `json:"fullName"`
			FirstName  string `json:"firstName"`
			LastName   string `json:"lastName"`
			Collective string `json:"collectiveName"`
		} `json:"author"`
	} `json:"authorList"`
	JournalInfo struct {
		Journal struct {
			Title string `json:"title"`
		} `json:"journal"`
	} `json:"journalInfo"`
	Book struct {
		Publisher string `json:"publisher"` // such as bioRxiv, for a preprint
	} `json:"bookOrReportDetails"`
	Year     string `json:"pubYear"`
	Date     string `json:"firstPublicationDate"`
	Abstract string `json:"abstractText"`
	CitedBy  int    `json:"citedByCount"`
	Types    struct {
		Type []string `json:"pubType"`
	} `json:"pubTypeList"`
	FullText struct {
		URL []struct {
			Availability string `json:"availabilityCode"` // OA; F for free; S for subscription
			Style        string `json:"documentStyle"`
			URL          string `json:"url"`
		} `json:"fullTextUrl"`
	} `json:"fullTextUrlList"`
	Corrections struct {
		Correction []struct {
			Type string `json:"type"`
		} `json:"commentCorrection"`
	} `json:"commentCorrectionList"`
}

// decodeEuropePMC parses a page of results of type core. Patents and notices are left out.
func decodeEuropePMC(body []byte) ([]Paper, error) {
	var answer struct {
		List struct {
			Result *[]json.RawMessage `json:"result"`
		} `json:"resultList"`
	}
	if err := readJSON(body, &answer); err != nil {
		return nil, err
	}
	if answer.List.Result == nil {
		return nil, fmt.Errorf("%w: it has no resultList", ErrFormat)
	}
	return each(*answer.List.Result, func(r europePMCResult) (Paper, bool) {
		p := Paper{
			Title: plain(r.Title), Abstract: plain(r.Abstract), PMID: canonicalPMID(r.PMID), PMCID: canonicalPMCID(r.PMCID),
			Venue: plain(r.JournalInfo.Journal.Title), Date: date(r.Date), CitedBy: r.CitedBy, Kind: KindArticle,
		}
		if p.Date == "" {
			p.Date = date(r.Year)
		}
		if p.Venue == "" {
			p.Venue = plain(r.Book.Publisher)
		}
		for _, a := range r.AuthorList.Author {
			name := strings.TrimSpace(a.FirstName + " " + a.LastName)
			if a.LastName == "" {
				name = a.FullName + a.Collective
			}
			p.Authors = append(p.Authors, name)
		}
		if len(p.Authors) == 0 && r.AuthorString != "" {
			p.Authors = strings.Split(strings.TrimSuffix(r.AuthorString, "."), ", ")
		}
		p.addDOI(r.DOI)
		for _, f := range r.FullText.URL {
			if p.PDF == "" && f.Style == "pdf" && (f.Availability == "OA" || f.Availability == "F") {
				p.PDF = f.URL
			}
		}
		types := strings.ToLower(strings.Join(r.Types.Type, "\n"))
		switch {
		case r.Source == "PPR" || strings.Contains(types, "preprint"):
			p.Kind = KindPreprint
		case strings.Contains(types, "review"):
			p.Kind = KindReview
		}
		p.Retracted = strings.Contains(types, "retracted publication")
		for _, c := range r.Corrections.Correction {
			p.Retracted = p.Retracted || slices.Contains([]string{"retraction in", "retractionin"}, strings.ToLower(c.Type))
		}
		return p, r.Source != "PAT" && !strings.Contains(types, "retraction of publication") &&
			!strings.Contains(types, "erratum")
	})
}
