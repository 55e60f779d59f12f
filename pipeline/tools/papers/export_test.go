package papers

import "time"

// Decoders parse the answers of the providers.
var Decoders = map[string]func(body []byte) ([]Paper, error){
	ArXiv: decodeArXiv, Crossref: decodeCrossref, EuropePMC: decodeEuropePMC, OpenAlex: decodeOpenAlex, SemanticScholar: decodeSemanticScholar,
}

// Normal returns a paper as returned for a provider's answer.
func Normal(p Paper) Paper { return p.normal() }

// IDs returns the canonical forms of s as DOI, arXiv id and ids of PubMed.
func IDs(s string) (doi, arXiv, pmid, pmcid string) {
	return canonicalDOI(s), canonicalArXiv(s), canonicalPMID(s), canonicalPMCID(s)
}

// Every returns the current time between requests to a provider.
func (s *Search) Every(name string) time.Duration {
	for _, p := range s.providers {
		if p.name == name {
			return time.Duration(p.between.Load())
		}
	}
	return 0
}

// SetEvery changes the time between requests to a provider.
func (s *Search) SetEvery(name string, d time.Duration) {
	for _, p := range s.providers {
		if p.name == name {
			p.every = d
			p.between.Store(int64(d))
		}
	}
}
