package researching

import (
	"slices"
	"strings"
	"testing"
)

func TestFactsOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"The tide of 2024-05-01 rose 6.1 m at 10:30, 1,000 m from Pier-7b.": {"2024-05-01", "6.1", "10:30", "1000", "pier-7b"},
		"Step 3 of 12, and 12 again [4].":                                   {"12"},
		"No number at all.":                                                 nil,
		"潮差为6.1米，2024年。":                                                    {"6.1", "2024"},
		"":                                                                  nil,
	} {
		if got := factsOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzFactsOf(f *testing.F) {
	f.Add("1,000.5 QX-4417 ٣٤ \xff 7")
	f.Fuzz(func(t *testing.T, text string) {
		plain := strings.ReplaceAll(strings.ToLower(text), ",", "")
		for _, fact := range factsOf(text) {
			if len(fact) < 2 || !strings.ContainsAny(fact, "0123456789") || !strings.Contains(plain, fact) && strings.ToValidUTF8(text, "") == text {
				t.Errorf("%q of %q", fact, text)
			}
		}
	})
}
