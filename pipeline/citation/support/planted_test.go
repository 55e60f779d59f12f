package support_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation/support"
	txt "nightdesk/pipeline/text"
)

// planted is a sentence with its expected result.
type planted struct {
	kind, sentence string
	source         string // ID of the cited source
	second         string // ID of a second cited source, or empty
}

// cites returns the IDs of the cited sources.
func (p planted) cites() []string {
	if p.second != "" {
		return []string{p.source, p.second}
	}
	return []string{p.source}
}

// good reports whether the sentence is true to its source: verbatim, rephrased, rounded, in another unit, or computed
// from its figures.
func (p planted) good() bool {
	return slices.Contains([]string{"verbatim", "paraphrase", "rounded", "converted", "derived", "both"}, p.kind)
}

// wrongFigure reports whether the sentence has a figure that its sources do not have.
func (p planted) wrongFigure() bool {
	return slices.Contains([]string{"number", "unit", "magnitude", "year"}, p.kind)
}

// plant reads the texts of testdata: every sentence unchanged, the cases below, and every third good sentence with an
// unrelated source.
func plant(t testing.TB) ([]support.Source, []planted) {
	t.Helper()
	paths, err := filepath.Glob("testdata/texts/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no texts: %v", err)
	}
	var sources []support.Source
	var cases []planted
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(string(body), "\ntext:\n")
		text, lines, ok := strings.Cut(rest, "\ncases:\n")
		if !ok {
			t.Fatalf("%s: no cases", path)
		}
		s := support.Source{ID: strings.TrimSuffix(filepath.Base(path), ".txt"), Text: text, About: strings.TrimPrefix(head, "title: ")}
		sources = append(sources, s)
		for _, sentence := range txt.Sentences(text) {
			cases = append(cases, planted{"verbatim", sentence.Text, s.ID, ""})
		}
		for line := range strings.Lines(lines) {
			kind, sentence, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if !ok {
				t.Fatalf("%s: %q", path, line)
			}
			kind, second, _ := strings.Cut(kind, " + ")
			cases = append(cases, planted{kind, sentence, s.ID, second})
		}
	}
	n := 0
	for _, c := range slices.Clone(cases) {
		if !c.good() || c.second != "" {
			continue
		}
		if n++; n%3 == 0 {
			i := slices.IndexFunc(sources, func(s support.Source) bool { return s.ID == c.source })
			cases = append(cases, planted{"source", c.sentence, sources[(i+1+n%(len(sources)-1))%len(sources)].ID, ""})
		}
	}
	return sources, cases
}
