package config

// PaperSearch holds the keys of the indexes of the tool paper_search that want one.
type PaperSearch struct {
	OpenAlexKey        Secret
	SemanticScholarKey Secret
}

// Names returns the indexes to query. It omits OpenAlex and Semantic Scholar without a key, because they reject nearly
// all such requests.
func (p PaperSearch) Names() []string {
	names := []string{"arxiv", "crossref", "europepmc"}
	if p.OpenAlexKey != (Secret{}) {
		names = append(names, "openalex")
	}
	if p.SemanticScholarKey != (Secret{}) {
		names = append(names, "semanticscholar")
	}
	return names
}
