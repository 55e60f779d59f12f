package config_test

import (
	"slices"
	"strings"
	"testing"
)

func TestPaperSearch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		env  map[string]string
		want []string
	}{
		{"no key", nil, []string{"arxiv", "crossref", "europepmc"}},
		{"keys", map[string]string{"OPENALEX_API_KEY": "a", "SEMANTIC_SCHOLAR_API_KEY": "b", "CROSSREF_MAILTO": "desk@a.example"},
			[]string{"arxiv", "crossref", "europepmc", "openalex", "semanticscholar"}},
		{"named, a key is not needed then", map[string]string{"NIGHTDESK_PAPER_SEARCH_PROVIDERS": "semanticscholar, arxiv"}, []string{"semanticscholar", "arxiv"}},
		{"named, a key changes nothing", map[string]string{"NIGHTDESK_PAPER_SEARCH_PROVIDERS": "arxiv", "OPENALEX_API_KEY": "a"}, []string{"arxiv"}},
	} {
		if got := load(t, "", tc.env, nil).PaperSearch.Names(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	for name, env := range map[string]map[string]string{
		"providers": {"NIGHTDESK_PAPER_SEARCH_PROVIDERS": "arxiv,scholar"},
		"mailto":    {"CROSSREF_MAILTO": "nobody"},
	} {
		_, err := tryLoad(t, "", env, nil)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
