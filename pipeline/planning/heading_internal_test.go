package planning

import (
	"testing"

	"nightdesk/topicqueue"
)

func TestSectionTitle(t *testing.T) {
	t.Parallel()
	w := weights{of: map[string]float64{"tide": 1}, order: []string{"tide"}, form: map[string]string{"tide": "tides"}}
	tests := []struct {
		document string
		section  []string
		want     string
	}{
		{"Tides", nil, "Tides"},
		{"Handbook", []string{"3. Spring tides"}, "Spring tides"},
		{"Handbook", []string{"Spring tides", "Examples"}, "Spring tides: Examples"},
		{"Handbook", []string{"Description"}, "Handbook"},
		{"Handbook", []string{"Spring tides", "Notes", "Overview"}, "Spring tides"},
		{"Handbook", []string{"Tides", "Times"}, "Tides: Times"},
		{"Handbook", []string{"Tides", "What a skipper must know beforehand"}, "What a skipper must know beforehand"},
		{"tides — The tides of the world", []string{"Functions"}, "tides: Functions"},
		{"Tides", []string{"Tides"}, "Tides"},
		{"Handbook", []string{"See also"}, ""},
		{"Handbook", []string{"References", "Tides"}, ""},
		{"Index", []string{"T"}, ""},
		{"13.1. Introduction", nil, ""},
		{"Introduction", []string{"Examples"}, "Introduction: Examples"},
		{"Release 15.3", []string{"Fixes of tides"}, "Fixes of tides"},
		{"What's new in 3.11", []string{"Version 3.11.2"}, ""},
		{"Release of sea water", []string{"Sluices and tides"}, "Sluices and tides"},
	}
	for _, tt := range tests {
		n := &node{document: &document{title: tt.document}, path: tt.section}
		if got := w.title(n, false); got != tt.want {
			t.Errorf("title(%q, %q) = %q, want %q", tt.document, tt.section, got, tt.want)
		}
	}
}

func TestWordCount(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"": 0, "two words": 2, "one — two": 2, "潮汐潮汐潮汐": 4, "range 6.1 m": 3, "潮汐 of 2024": 3,
	} {
		if got := wordCount(s); got != want {
			t.Errorf("wordCount(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"1. Tides": "Tides", "12) Tides": "Tides", "3.1 times": "3.1 times", "3D models": "3D models", "2024: a year": "2024: a year",
		"**Tides**": "Tides", "“Tides”": "Tides", `"Tides" and "waves"`: `"Tides" and "waves"`, "# Tides\n": "Tides", "\x00": "", "1.": "1.",
	} {
		if got := cleanTitle(s); got != want {
			t.Errorf("cleanTitle(%q) = %q, want %q", s, got, want)
		}
	}
}

func FuzzCleanTitle(f *testing.F) {
	f.Add("1. **Tides**")
	f.Add("“1) x”")
	f.Fuzz(func(t *testing.T, s string) {
		got := cleanTitle(s)
		if len(got) > maxTitle || got != topicqueue.OneLine(got) {
			t.Fatalf("cleanTitle(%q) = %q", s, got)
		}
	})
}
