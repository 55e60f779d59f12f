package verification_test

import (
	"slices"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/verification"
)

// TestSentences: where sentences with citations end.
func TestSentences(t *testing.T) {
	t.Parallel()
	registry := citation.RegistryOf([]citation.Source{{Key: "a.pdf", Title: "A"}})
	for text, want := range map[string][]string{
		"It began on 3 May. It ended soon. [1]":                           {"It ended soon."},
		"Der Durchschlag gelang am 3. Oktober 2016. [1]":                  {"Der Durchschlag gelang am 3. Oktober 2016."},
		"Am 28. September beschlossen, gilt er ab 1. Januar [1].":         {"Am 28. September beschlossen, gilt er ab 1. Januar."},
		"They came in at place 12. October was wet. [1]":                  {"October was wet."},
		"Es waren z. B. 5. Dann kamen 7 hinzu [1]. Mehr kamen nicht [1].": {"Dann kamen 7 hinzu.", "Mehr kamen nicht."},
	} {
		v := verification.Verify(registry, text+"\n\n## References\n\n[1] a.pdf\n", false)
		var got []string
		for _, s := range v.Sentences {
			got = append(got, s.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
