package support_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/extractive"
)

// planted is a sentence with what is known of it.
type planted struct {
	kind, sentence string
	source         string // ID of the one that it cites
	second         string // and of another one, or empty
}

// cites gives the IDs of the sources that the sentence cites.
func (p planted) cites() []string {
	if p.second != "" {
		return []string{p.source, p.second}
	}
	return []string{p.source}
}

// good reports a kind whose sentences are true to their source: as it has them, in other words, rounded, in another
// unit, computed from its figures, or each half from another source.
func good(kind string) bool {
	switch kind {
	case "verbatim", "paraphrase", "rounded", "converted", "derived", "both":
		return true
	}
	return false
}

// figure reports a kind whose sentences have a figure that their sources do not have.
func figure(kind string) bool {
	switch kind {
	case "number", "unit", "magnitude", "year":
		return true
	}
	return false
}

// plant reads the corpus of a directory: every sentence of the texts as it is, the cases that are written below the
// texts, and every third good one with a source that it does not come from.
func plant(t testing.TB, dir string) ([]support.Source, []planted) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no corpus in %s: %v", dir, err)
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
		for _, sentence := range extractive.Sentences(text) {
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
		if !good(c.kind) || c.second != "" {
			continue
		}
		if n++; n%3 == 0 {
			i := slices.IndexFunc(sources, func(s support.Source) bool { return s.ID == c.source })
			cases = append(cases, planted{"source", c.sentence, sources[(i+1+n%(len(sources)-1))%len(sources)].ID, ""})
		}
	}
	return sources, cases
}

// count is what became of the sentences of one kind.
type count struct{ all, supported, unverified, unsupported int }

// weigh checks all cases, prints the table and returns the counts by kind.
func weigh(t *testing.T, sources []support.Source, cases []planted) map[string]*count {
	t.Helper()
	corpus := support.New(sources)
	counts := map[string]*count{}
	var kinds []string
	for _, c := range cases {
		v := corpus.Check(c.sentence, c.cites())
		n := counts[c.kind]
		if n == nil {
			n = &count{}
			counts[c.kind] = n
			kinds = append(kinds, c.kind)
		}
		n.all++
		wrong := false
		switch v.Result {
		case support.Supported:
			n.supported++
			wrong = !good(c.kind)
		case support.Unverified:
			n.unverified++
		case support.Unsupported:
			n.unsupported++
			wrong = good(c.kind)
		}
		if wrong || v.Result == support.Unverified {
			t.Logf("%-10s %-11s %-9s %-20q %.2f %s", c.kind, v.Result, v.Reason, v.Detail, v.Overlap, c.sentence)
		}
	}
	t.Log(table(kinds, counts))
	return counts
}

// table shows by kind what was found, with the recall of the kind's wrong sentences and the precision of the verdicts.
func table(kinds []string, counts map[string]*count) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-12s %5s %10s %11s %12s   %s\n", "kind", "all", "supported", "unverified", "unsupported", "recall")
	var rightNo, wrongNo, rightYes, wrongYes int
	for _, k := range kinds {
		c := counts[k]
		recall := c.unsupported
		if good(k) {
			recall = c.supported
			rightYes += c.supported
			wrongNo += c.unsupported
		} else {
			wrongYes += c.supported
			rightNo += c.unsupported
		}
		fmt.Fprintf(&b, "%-12s %5d %10d %11d %12d   %5.1f%%\n", k, c.all, c.supported, c.unverified, c.unsupported, 100*float64(recall)/float64(c.all))
	}
	fmt.Fprintf(&b, "precision of unsupported %.1f%% (%d of %d), of supported %.1f%% (%d of %d)",
		percent(rightNo, wrongNo), rightNo, rightNo+wrongNo, percent(rightYes, wrongYes), rightYes, rightYes+wrongYes)
	return b.String()
}

func percent(n, rest int) float64 { return 100 * float64(n) / float64(max(1, n+rest)) }

// TestPlanted checks what must never fail: no good sentence is called unsupported, and no wrong figure passes.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"dev", "held"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			sources, cases := plant(t, dir)
			counts := weigh(t, sources, cases)
			for kind, c := range counts {
				switch {
				case kind == "verbatim" && c.supported < c.all:
					t.Errorf("%d of %d verbatim sentences are not supported", c.all-c.supported, c.all)
				case good(kind) && c.unsupported > 0:
					t.Errorf("%d of %d good sentences (%s) are called unsupported", c.unsupported, c.all, kind)
				case figure(kind) && c.unsupported < c.all:
					t.Errorf("%d of %d sentences with a wrong %s pass", c.all-c.unsupported, c.all, kind)
				}
			}
		})
	}
}
