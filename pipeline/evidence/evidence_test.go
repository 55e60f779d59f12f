package evidence_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/sources"
	"nightdesk/topicqueue"
)

// claim makes a claim of its own source. about: title and, behind @, the year of the source.
func claim(n int, about, text string) evidence.Claim {
	title, year, _ := strings.Cut(about, "@")
	s := topicqueue.Source{
		ID: fmt.Sprintf("src_%d", n), Kind: topicqueue.SourceWeb, URL: fmt.Sprintf("https://site%d.example/", n), Title: strings.TrimSpace(title),
		Date: strings.TrimSpace(year), Hash: topicqueue.TextHash(fmt.Sprint(n)),
	}
	id := topicqueue.BlockCitationID(1, n)
	return evidence.Claim{Claim: topicqueue.Claim{ID: id + ".1", CitationID: id, SourceID: s.ID, Text: text, Quote: text}, Source: sources.Describe(s, sources.Page{})}
}

// Each pair is judged alone, in both orders. A contradiction that is none costs the reader's trust, so there must be none;
// one that is missed costs less. The rules grew with pairs.txt; unseen.txt was written afterwards, and one pair of it
// (oil prices that fell) changed a rule: its figures tell more of other texts.
func TestContradictions(t *testing.T) {
	t.Parallel()
	for file, leastRecall := range map[string]float64{"pairs.txt": 0.9, "unseen.txt": 0.7} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			n, found, wrong, missed := judged(t, "testdata/"+file)
			recall := float64(found) / float64(found+missed)
			t.Logf("%d pairs: precision %.2f, recall %.2f", n, float64(found)/float64(max(1, found+wrong)), recall)
			if wrong > 0 || recall < leastRecall {
				t.Errorf("%d wrong, recall %.2f", wrong, recall)
			}
		})
	}
}

// judged compares the pairs of a file and counts them, and, twice each, the contradictions found, wrongly found and missed.
func judged(t *testing.T, file string) (n, found, wrong, missed int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		n++
		fields := strings.Split(line, "|")
		first, second, both := strings.Cut(fields[1], "/")
		if !both {
			second = first
		}
		want := strings.TrimSpace(fields[0]) == "yes"
		pair := []evidence.Claim{claim(1, first, strings.TrimSpace(fields[2])), claim(2, second, strings.TrimSpace(fields[3]))}
		for range 2 {
			w := evidence.Weigh(pair, nil)
			got := len(w.Contradictions) > 0
			switch {
			case got && want:
				found++
			case got:
				wrong++
				t.Logf("no contradiction: %s: %+v", line, w.Contradictions[0])
			case want:
				missed++
				t.Logf("missed: %s", line)
			}
			if got && len(w.Statements) != 2 {
				t.Errorf("contradicts and says the same: %s", line)
			}
			slices.Reverse(pair)
		}
	}
	return n, found, wrong, missed
}

func TestSupport(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("The harbour opened its gates and a hundred boats went out into the bay at noon. ", 8)
	claims := []evidence.Claim{
		claim(1, "Harbour", "The Harbour handled 1.2 million containers in 2023."),
		claim(2, "Harbour", "In 2023, the Harbour handled 1,200,000 containers."),
		claim(3, "Harbour", "The Harbour handled 1.2 million containers in 2023."),
		claim(4, "Harbour", "The Harbour handled 1.2 million containers in 2022."),
		claim(5, "Harbour", "The Harbour has four cranes."),
		claim(6, "Harbour", "The Harbour handled 1.9 million containers in 2023."),
		claim(7, "Harbour", "The harbour master of Northport keeps bees."),
	}
	// The third is a copy of the first in another place.
	sketches := map[string]sources.Sketch{"src_1": sources.NewSketch(text), "src_3": sources.NewSketch("By our correspondent. " + text)}
	w := evidence.Weigh(claims, sketches)
	support := w.Support()
	for id, want := range map[string]int{"CIT-1-01.1": 2, "CIT-1-02.1": 2, "CIT-1-03.1": 2, "CIT-1-04.1": 1, "CIT-1-05.1": 1, "CIT-1-06.1": 1, "CIT-1-07.1": 1} {
		if support[id] != want {
			t.Errorf("%s: support %d, want %d", id, support[id], want)
		}
	}
	if len(w.Statements) != 5 || w.Thin != 4 {
		t.Errorf("%d statements, %d thin: %+v", len(w.Statements), w.Thin, w.Statements)
	}
	if len(w.Contradictions) != 1 {
		t.Fatalf("%+v", w.Contradictions)
	}
	c := w.Contradictions[0]
	if c.Kind != evidence.ContradictsValue || c.A.Value != "1.2 million" || c.B.Value != "1.9 million" || c.A.Support != 2 ||
		!slices.Equal(c.A.Citations, []string{"CIT-1-01", "CIT-1-02", "CIT-1-03"}) || !slices.Equal(c.B.Citations, []string{"CIT-1-06"}) {
		t.Errorf("%+v", c)
	}
}

// A text does not contradict its copy, whatever a note made of it.
func TestCopiesDoNotContradict(t *testing.T) {
	t.Parallel()
	a, b := claim(1, "Harbour", "The Harbour has 4 cranes in use."), claim(2, "Harbour", "The Harbour has 5 cranes in use.")
	if w := evidence.Weigh([]evidence.Claim{a, b}, nil); len(w.Contradictions) != 1 {
		t.Fatalf("%+v", w)
	}
	b.Source.Hash = a.Source.Hash
	if w := evidence.Weigh([]evidence.Claim{a, b}, nil); len(w.Contradictions) != 0 {
		t.Errorf("%+v", w)
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"Acme sold 1.2 million widgets.", "Acme sold 1,200,000 widgets.", true},
		{"Acme sold 1.2 million widgets.", "Acme sold 1,300,000 widgets.", false},
		{"The Acme plant covers 3 km².", "The Acme plant has an area of 3 square kilometres.", true},
		{"The Acme plant is 2 km long.", "The Acme plant has a length of 2,000 metres.", true},
		{"The award went to Ada Byron for work on engines in London.", "The award went to Mary Shelley for work on engines in London.", false},
		{"Zeta encrypts all messages by default.", "Zeta does not encrypt all messages by default.", false},
		{"Zeta encrypts all messages by default.", "By default, Zeta encrypts all messages.", true},
		{"Version 15 of Zeta encrypts all messages.", "Version 16 of Zeta encrypts all messages.", false},
		{"Acme's revenue rose by 5% in 2023.", "Acme's revenue rose by 5 percent in 2022.", false},
	} {
		w := evidence.Weigh([]evidence.Claim{claim(1, "", tc.a), claim(2, "", tc.b)}, nil)
		if got := len(w.Statements) == 1; got != tc.same {
			t.Errorf("%q and %q: same %v", tc.a, tc.b, got)
		}
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	if w := evidence.Weigh(nil, nil); w.Statements == nil || w.Contradictions == nil || w.Thin != 0 {
		t.Errorf("%+v", w)
	}
	if got := evidence.Collect([]topicqueue.ToolTrace{{}}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func FuzzWeigh(f *testing.F) {
	f.Add("The Harbour has 4 cranes in use.", "The Harbour has 5 cranes in use.")
	f.Add("华为公司成立于1987年。", "no 1.2 %")
	f.Fuzz(func(t *testing.T, a, b string) {
		claims := []evidence.Claim{claim(1, "x", a), claim(2, "x", b), claim(3, "x", a)}
		w := evidence.Weigh(claims, nil)
		n := 0
		for _, s := range w.Statements {
			n += len(s.Claims)
			if s.Support < 1 || s.Support > len(s.Claims) {
				t.Errorf("%+v", s)
			}
		}
		if n != 3 {
			t.Errorf("%d of 3 claims", n)
		}
		for _, c := range w.Contradictions {
			if c.A.Statement == c.B.Statement {
				t.Errorf("%q contradicts itself", c.A.Statement)
			}
		}
	})
}

func BenchmarkWeigh1000(b *testing.B) {
	var claims []evidence.Claim
	for i := range 1000 {
		claims = append(claims, claim(i, "Harbour", fmt.Sprintf("The Harbour %s%d handled %d thousand containers on its %d piers, against %s weather and rising tide%d.",
			[]string{"North", "South", "East"}[i%3], i/40, i%17+3, i%9+2, []string{"bad", "fair", "poor", "good"}[i%4], i%50)))
	}
	b.ReportAllocs()
	for b.Loop() {
		evidence.Weigh(claims, nil)
	}
}
