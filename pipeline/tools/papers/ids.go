package papers

import (
	"net/url"
	"regexp"
	"strings"

	"nightdesk/pipeline/tools/fetch"
)

var (
	doiForm    = regexp.MustCompile(`^10\.\d{4,9}(?:\.\d+)*/[^\s\p{C}]+$`)
	arXivNew   = regexp.MustCompile(`^(\d{4}\.\d{4,5})(?:v\d+)?$`)
	arXivOld   = regexp.MustCompile(`^([a-z-]+)(?:\.[a-z]{2})?(/\d{7})(?:v\d+)?$`) // math.GT/0309136 is math/0309136
	pubMedForm = regexp.MustCompile(`^(?:https?://[a-z.]*` +
		`\bnlm\.nih\.gov/(?:pubmed/|(?:pmc/)?articles/)?)?(?i:pmc)?0*([1-9]\d{0,9})/?$`)
	doiResolvers = []string{"https://", "http://", "www.", "dx.", "doi.org/", "doi:", "doi "}
)

// arXivDOI is the prefix of the DOIs that arXiv assigns to its papers.
const arXivDOI = "10.48550/arxiv."

// canonicalDOI returns a DOI in lower case without a resolver's address, or "" if s is not a DOI.
func canonicalDOI(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, prefix := range doiResolvers {
		s = strings.TrimSpace(strings.TrimPrefix(s, prefix))
	}
	if decoded, err := url.PathUnescape(s); err == nil {
		s = decoded
	}
	s = strings.TrimRight(s, ".,;")
	if len(s) > 300 || !doiForm.MatchString(s) {
		return ""
	}
	return s
}

// canonicalArXiv returns the arXiv ID, without version, in an ID, an address or a DOI. It returns "" if there is none.
func canonicalArXiv(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if doi := canonicalDOI(s); strings.HasPrefix(doi, arXivDOI) {
		s = strings.TrimPrefix(doi, arXivDOI)
	}
	if _, path, ok := strings.Cut(s, "arxiv.org/"); ok {
		_, s, _ = strings.Cut(path, "/") // abs/, pdf/, html/
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "arxiv:"), ".pdf")
	if m := arXivNew.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	if m := arXivOld.FindStringSubmatch(s); m != nil {
		return m[1] + m[2]
	}
	return ""
}

// canonicalPMID returns the digits of a PubMed ID or address, or "" if s is neither.
func canonicalPMID(s string) string {
	if m := pubMedForm.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		return m[1]
	}
	return ""
}

// canonicalPMCID returns "PMC" and the digits of a PubMed Central ID or address, or "" if s is neither.
func canonicalPMCID(s string) string {
	if n := canonicalPMID(s); n != "" {
		return "PMC" + n
	}
	return ""
}

// addDOI records a DOI. A DOI assigned by arXiv sets the arXiv ID; a second DOI is another version of the work.
func (p *Paper) addDOI(s string) {
	doi := canonicalDOI(s)
	switch {
	case doi == "":
	case strings.HasPrefix(doi, arXivDOI):
		if p.ArXiv == "" {
			p.ArXiv = canonicalArXiv(doi)
		}
	case p.DOI == "":
		p.DOI = doi
	case p.DOI != doi:
		p.OtherDOIs = append(p.OtherDOIs, doi)
	}
}

// ids returns the identifiers of a work, each prefixed with its kind.
func (p Paper) ids() []string {
	var ids []string
	add := func(kind, id string) {
		if id != "" {
			ids = append(ids, kind+id)
		}
	}
	for _, doi := range append([]string{p.DOI}, p.OtherDOIs...) {
		add("doi:", doi)
	}
	add("arxiv:", p.ArXiv)
	add("pmid:", p.PMID)
	add("pmcid:", p.PMCID)
	return ids
}

// landing returns the address for citing the work.
func (p Paper) landing() string {
	switch {
	case p.DOI != "":
		return (&url.URL{Scheme: "https", Host: "doi.org", Path: "/" + p.DOI}).String()
	case p.ArXiv != "":
		return "https://arxiv.org/abs/" + p.ArXiv
	case p.PMID != "":
		return "https://pubmed.ncbi.nlm.nih.gov/" + p.PMID + "/"
	case p.PMCID != "":
		return "https://pmc.ncbi.nlm.nih.gov/articles/" + p.PMCID + "/"
	}
	address, _, _ := fetch.CleanAddress(p.URL)
	return address
}
