package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/sources"
	"nightdesk/topicqueue"
)

// claim returns a claim with its own source. about: title and, after @, the year of the source.
func claim(n int, about, text string) evidence.Claim {
	title, year, _ := strings.Cut(about, "@")
	s := topicqueue.Source{
		ID: fmt.Sprintf("src_%d", n), Kind: topicqueue.SourceWeb, URL: fmt.Sprintf("https://site%d.example/", n), Title: strings.TrimSpace(title),
		Date: strings.TrimSpace(year), Hash: topicqueue.TextHash(fmt.Sprint(n)),
	}
	id := topicqueue.BlockCitationID(1, n)
	return evidence.Claim{Claim: topicqueue.Claim{ID: id + ".1", CitationID: id, SourceID: s.ID, Text: text, Quote: text}, Source: sources.Describe(s, sources.Page{})}
}

// TestContradictions without a model, in both orders: the same words with another value. Contradictions in other words
// need a model.
func TestContradictions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, a, b string // behind @: the year of the source
		want       string // the two values
	}{
		{"value", "The Harbour has 4 cranes.", "The Harbour has 5 cranes.", "4 | 5"},
		{"date", "The Harbour was opened on 3 May 1911.", "The Harbour was opened on 4 May 1911.", "3 May 1911 | 4 May 1911"},
		{"the same, rounded", "Acme sold 1.2 million widgets.", "Acme sold 1,230,000 widgets.", ""},
		{"another unit of the same", "The quay is 900 metres long.", "The quay is 0.9 km long.", ""},
		{"another year", "Acme sold 12 widgets in 2022.", "Acme sold 14 widgets in 2023.", ""},
		{"sources of other years", "Acme sold 12 widgets.@2022", "Acme sold 14 widgets.@2023", ""},
		{"sources of one year", "Acme sold 12 widgets.@2023", "Acme sold 14 widgets.@2023", "12 | 14"},
		{"another subject", "Acme employs 12 people in Leeds.", "Zeta employs 14 people in Leeds.", ""},
		{"other words and value", "The port of Ashby operates 7 cranes.", "5 cranes stand in the port of Ashby.", ""},
		{"another kind of value", "Acme grew by 5 percent.", "Acme grew by 5 million euros.", ""},
		{"no value", "Zeta encrypts all messages.", "Zeta does not encrypt all messages.", ""},
		{"two values", "Acme sold 12 widgets for 30 euros.", "Acme sold 14 widgets for 40 euros.", ""},
		{"versions", "Version 15 of Zeta stores 4 keys.", "Version 16 of Zeta stores 5 keys.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, yearA, _ := strings.Cut(tt.a, "@")
			b, yearB, _ := strings.Cut(tt.b, "@")
			pair := []evidence.Claim{claim(1, "Title@"+yearA, a), claim(2, "Title@"+yearB, b)}
			got := ""
			for _, c := range evidence.Weigh(pair, nil, nil, nil).Contradictions {
				got = c.A.Value + " | " + c.B.Value
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			slices.Reverse(pair)
			if n := len(evidence.Weigh(pair, nil, nil, nil).Contradictions); (n > 0) != (tt.want != "") {
				t.Errorf("%d in the other order", n)
			}
		})
	}
}

// The same words with four values are a template that each source fills in for its own subject.
func TestFormsDoNotContradict(t *testing.T) {
	t.Parallel()
	claims := []evidence.Claim{
		claim(1, "Alder", "The station has a capacity of 120 m3/s."), claim(2, "Birch",
			"The station has a capacity of 141 m3/s."),
		claim(3, "Cedar", "The station has a capacity of 97 m3/s."), claim(6, "Dale",
			"The station has a capacity of 88 m3/s."),
		claim(4, "Weir", "The weir was built in 1931."), claim(5, "Chronicle", "The weir was built in 1934."),
	}
	c := evidence.Weigh(claims, nil, nil, nil).Contradictions
	if len(c) != 1 || c[0].A.Value != "1931" {
		t.Errorf("%+v", c)
	}
}

// For claims shown to a model, only its verdict counts.
func TestJudgedContradictions(t *testing.T) {
	t.Parallel()
	claims := []evidence.Claim{
		claim(1, "Harbour", "The Harbour has 4 cranes."), claim(2, "Harbour", "The Harbour has 5 cranes."), claim(3, "Harbour", "The cranes of the Harbour are gone."),
	}
	seen := map[string]bool{"CIT-1-01.1": true, "CIT-1-02.1": true}
	if c := evidence.Weigh(claims, nil, nil, seen).Contradictions; len(c) != 0 {
		t.Errorf("%+v", c)
	}
	c := evidence.Weigh(claims, nil, []topicqueue.Contradiction{{A: "CIT-1-01.1", B: "CIT-1-03.1", Why: "gone"}, {A: "CIT-1-01.1", B: "CIT-9-01.1"}}, seen).Contradictions
	if len(c) != 1 || c[0].Kind != evidence.ContradictsWords || c[0].Why != "gone" || c[0].B.Statement != "The cranes of the Harbour are gone." {
		t.Errorf("%+v", c)
	}
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
	w := evidence.Weigh(claims, sketches, nil, nil)
	support := w.Support()
	for id, want := range map[string]int{"CIT-1-01.1": 2, "CIT-1-02.1": 2, "CIT-1-03.1": 2, "CIT-1-04.1": 1, "CIT-1-05.1": 1, "CIT-1-06.1": 1, "CIT-1-07.1": 1} {
		if support[id] != want {
			t.Errorf("%s: support %d, want %d", id, support[id], want)
		}
	}
	cited := map[string]bool{"CIT-1-02.1": true, "CIT-1-05.1": true, "CIT-1-03.1": true}
	if of := w.Origins(cited); len(w.Statements) != 5 || of != 3 {
		t.Errorf("%d statements, %d origins of those cited: %+v", len(w.Statements), of, w.Statements)
	}
	if of := w.Origins(map[string]bool{"CIT-1-01.1": true, "CIT-1-03.1": true}); of != 1 {
		t.Errorf("%d origins of a text and its copy", of)
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

// Program output neither contradicts nor confirms its inputs.
func TestComputedClaims(t *testing.T) {
	t.Parallel()
	of := []evidence.Claim{claim(1, "", "The Harbour has 4 cranes."), claim(2, "", "The Harbour has 5 cranes.")}
	of[1].Source.Kind = topicqueue.SourceCode
	of[1].Text, of[1].Quote = of[0].Text, of[0].Quote
	for _, s := range evidence.Weigh(of, nil, nil, nil).Statements {
		if len(s.Claims) != 2 || s.Support != 1 {
			t.Errorf("%+v", s)
		}
	}
}

// A text does not contradict its copy, whatever was noted.
func TestCopiesDoNotContradict(t *testing.T) {
	t.Parallel()
	a, b := claim(1, "Harbour", "The Harbour has 4 cranes in use."), claim(2, "Harbour", "The Harbour has 5 cranes in use.")
	if w := evidence.Weigh([]evidence.Claim{a, b}, nil, nil, nil); len(w.Contradictions) != 1 {
		t.Fatalf("%+v", w)
	}
	b.Source.Hash = a.Source.Hash
	if w := evidence.Weigh([]evidence.Claim{a, b}, nil, nil, nil); len(w.Contradictions) != 0 {
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
		{"The Acme plant is 2 km long.", "The Acme plant is 2,000 metres long.", true},
		{"The Acme plant is 2 km long.", "The Acme plant has a length of 2,000 metres.", false}, // other words: nobody understands them
		{"The award went to Ada Byron for work on engines in London.", "The award went to Mary Shelley for work on engines in London.", false},
		{"Zeta encrypts all messages by default.", "Zeta does not encrypt all messages by default.", false},
		{"Zeta encrypts all messages by default.", "By default, Zeta encrypts all messages.", true},
		{"Version 15 of Zeta encrypts all messages.", "Version 16 of Zeta encrypts all messages.", false},
		{"Acme's revenue rose by 5% in 2023.", "Acme's revenue rose by 5 percent in 2022.", false},
	} {
		w := evidence.Weigh([]evidence.Claim{claim(1, "", tc.a), claim(2, "", tc.b)}, nil, nil, nil)
		if got := len(w.Statements) == 1; got != tc.same {
			t.Errorf("%q and %q: same %v", tc.a, tc.b, got)
		}
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	if w := evidence.Weigh(nil, nil, nil, nil); w.Statements == nil || w.Contradictions == nil {
		t.Errorf("%+v", w)
	}
	if got := evidence.Collect([]topicqueue.ToolTrace{{}}, ""); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func FuzzWeigh(f *testing.F) {
	f.Add("The Harbour has 4 cranes in use.", "The Harbour has 5 cranes in use.")
	f.Add("华为公司成立于1987年。", "no 1.2 %")
	f.Fuzz(func(t *testing.T, a, b string) {
		claims := []evidence.Claim{claim(1, "x", a), claim(2, "x", b), claim(3, "x", a)}
		w := evidence.Weigh(claims, nil, nil, nil)
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
		evidence.Weigh(claims, nil, nil, nil)
	}
}

// TestStatements: what two blocks note of one quote is one statement, unless the quote has two facts.
func TestStatements(t *testing.T) {
	t.Parallel()
	price := claim(1, "", "A bus costs 690,000 euros.")
	price.Block, price.Quote = "block_1", "Our bus costs about 690,000 euros and has a range of 400 km."
	again, reach := price, price
	again.Block, again.Text = "block_2", "The bus costs about 690,000 euros."
	reach.Block, reach.Text = "block_2", "Its range is 400 km."
	if got := evidence.Statements([]evidence.Claim{price, again, reach}); got[0] != got[1] || got[2] != reach.Text {
		t.Errorf("%q", got)
	}
}
