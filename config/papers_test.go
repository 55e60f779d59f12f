package config_test

import (
	"slices"
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
		{"keys", map[string]string{"OPENALEX_API_KEY": "a", "SEMANTIC_SCHOLAR_API_KEY": "b"},
			[]string{"arxiv", "crossref", "europepmc", "openalex", "semanticscholar"}},
	} {
		if got := load(t, "", tc.env, nil).PaperSearch.Names(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
