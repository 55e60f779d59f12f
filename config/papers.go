package config

import (
	"errors"
	"slices"
	"strings"
)

// PaperSearch configures the indexes of the tool paper_search, and the credentials for them.
type PaperSearch struct {
	Providers          string // comma-separated names; empty: see Names
	OpenAlexKey        Secret
	SemanticScholarKey Secret
	CrossrefMailto     string
}

// paperProviders lists the supported indexes.
var paperProviders = []string{"arxiv", "crossref", "europepmc", "openalex", "semanticscholar"}

// paperServices are setting groups whose environment variables have their usual names, without a NIGHTDESK_ prefix.
var paperServices = []string{"openalex", "semantic_scholar", "crossref"}

func paperTable(p *PaperSearch) []field {
	names := strings.Join(paperProviders, ", ")
	return []field{
		setting("paper_search.providers", "", "",
			"indexes that paper_search asks; empty: arxiv, crossref, europepmc, and of openalex and semanticscholar those "+
				"whose key is set",
			text(&p.Providers, "some of "+names+" with commas between them; empty: those that work", paperNames)),
		setting("openalex.api_key", "", "",
			"key of OpenAlex, free at openalex.org: 1,000 searches a day; without a key about ten",
			secret(&p.OpenAlexKey)),
		setting("semantic_scholar.api_key", "", "",
			"key of Semantic Scholar: one search per second; without a key most are rejected",
			secret(&p.SemanticScholarKey)),
		setting("crossref.mailto", "", "", "your mail address as contact for Crossref, which then allows more "+
			"searches",
			text(&p.CrossrefMailto, "a mail address; empty: none", mailAddress)),
	}
}

// Names returns the indexes to query. By default it omits OpenAlex and Semantic Scholar without a key, because they
// reject nearly all such requests.
func (p PaperSearch) Names() []string {
	names := splitNames(p.Providers)
	if len(names) > 0 {
		return names
	}
	names = []string{"arxiv", "crossref", "europepmc"}
	if p.OpenAlexKey != (Secret{}) {
		names = append(names, "openalex")
	}
	if p.SemanticScholarKey != (Secret{}) {
		names = append(names, "semanticscholar")
	}
	return names
}

func splitNames(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func paperNames(s string) error {
	for _, name := range splitNames(s) {
		if !slices.Contains(paperProviders, name) {
			return errors.New("must be some of " + strings.Join(paperProviders, ", ") + ", with commas between them")
		}
	}
	return nil
}

func mailAddress(s string) error {
	if s == "" {
		return nil
	}
	name, host, _ := strings.Cut(s, "@")
	if name == "" || !strings.Contains(host, ".") || strings.ContainsAny(s, " ,<>") {
		return errors.New("must be a mail address such as desk@example.org")
	}
	return nil
}
