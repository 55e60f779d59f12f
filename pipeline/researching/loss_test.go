package researching_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

var planted = regexp.MustCompile(`Buoy [A-Z]{2}-\d{4} measured the spring tides at \d+\.\d metres\.`)

// plantedAnswer is a long page with ten facts about spring tides between sentences that tell nothing.
func plantedAnswer(block int) (text string, facts []string) {
	var b strings.Builder
	for n := range 10 {
		for range 80 {
			b.WriteString("The people of the coast like to talk about the weather and about their boats in the evening. ")
		}
		fact := fmt.Sprintf("Buoy %c%c-%04d measured the spring tides at %d.%d metres.", 'A'+block, 'K'+n, 4000+block*100+n, 3+n, block)
		facts = append(facts, fact)
		b.WriteString("\n\n" + fact + "\n\n")
	}
	return b.String(), facts
}

// Fifty facts stand in long answers, and the model drops three of ten: what it drops is kept in its own words, and what
// is lost all the same is listed.
func TestPlantedFacts(t *testing.T) {
	t.Parallel()
	noted, all, dropped := 0, 0, 0
	for block := range 5 {
		b := newBench(t)
		random := rand.New(rand.NewPCG(uint64(block), 1))
		b.run.Options.MaxIterations = 1
		text, facts := plantedAnswer(block)
		b.tools["rag_hybrid"] = func(string) tools.Result { return found(text) }
		b.note = func(req llm.Request) any {
			a := prompts.NoteAnswer{Summary: "Buoys."}
			for _, f := range planted.FindAllString(req.Prompt.User, -1) {
				if random.IntN(10) < 3 {
					dropped++
					continue
				}
				a.Claims = append(a.Claims, prompts.NoteClaim{Source: 1, Text: f, Quote: f})
			}
			return a
		}
		res, err := b.research()
		if err != nil || len(res.Fallbacks) != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		tr := b.queue.traces()
		if len(tr) != 1 {
			t.Fatalf("%d traces", len(tr))
		}
		has := map[string]bool{}
		for _, c := range tr[0].Claims {
			has[c.Quote] = true
			if !slices.Contains(facts, c.Quote) || tr[0].Source.Text[c.Start:c.End] != c.Quote {
				t.Errorf("claim %+v", c)
			}
		}
		for _, line := range tr[0].Lost {
			_, sentence, _ := strings.Cut(line, ": ")
			if !slices.Contains(facts, sentence) || has[sentence] {
				t.Errorf("block %d: listed as lost: %q", block, line)
			}
		}
		if len(has)+len(tr[0].Lost) != len(facts) {
			t.Errorf("block %d: %d noted, listed are %q", block, len(has), tr[0].Lost)
		}
		noted, all = noted+len(has), all+len(facts)
	}
	t.Logf("%d of %d facts are noted; the model dropped %d", noted, all, dropped)
	if noted*100 < all*95 || dropped < 10 {
		t.Errorf("%d of %d facts are noted; the model dropped %d", noted, all, dropped)
	}
}

// What a note keeps of what its model has passed over.
func TestKeptOfNotes(t *testing.T) {
	t.Parallel()
	const line = "Spring tides at Port %d rise by %d.5 metres in the year %d.\n\n"
	page, ten := "", ""
	for n := range 20 {
		if page += fmt.Sprintf(line, 10+n, 40+n, 1950+n); n == 9 {
			ten = page
		}
	}
	for _, tc := range []struct {
		name   string
		page   string
		claims int // that the model gives of it
		kept   int
		lost   int // listed
	}{
		{name: "nothing is lost", page: ten, claims: 10},
		{name: "one sentence is lost", page: ten + "Spring tides are 99.5 metres high at Port 98.\n\n", claims: 10, kept: 1},
		{name: "much is lost", page: ten, claims: 3, kept: 6, lost: 1},
		{name: "the model had to choose", page: page, claims: 15, lost: 5},
		{name: "off the subject", page: strings.ReplaceAll(ten, "Spring tides at Port", "Bread prices of the bakery no."), claims: 2},
		{name: "nothing bears on the block", page: ten},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.run.Options.MaxIterations = 2
			b.tools["rag_hybrid"] = func(query string) tools.Result {
				if query != b.start.Block.Queries[0] {
					return tools.Result{}
				}
				return found(tc.page)
			}
			b.note = func(llm.Request) any {
				a := prompts.NoteAnswer{Summary: "s"}
				for _, quote := range strings.Split(strings.TrimSpace(tc.page), "\n\n")[:tc.claims] {
					a.Claims = append(a.Claims, prompts.NoteClaim{Source: 1, Text: topicqueue.OneLine(quote), Quote: quote})
				}
				return a
			}
			res, err := b.research()
			if err != nil || len(res.Fallbacks) != 0 || len(b.questions("note")) != 1 {
				t.Fatalf("%+v, %v, %d notes", res, err, len(b.questions("note")))
			}
			kept, lost := 0, 0
			for _, tr := range b.queue.traces() {
				lost += len(tr.Lost)
				for _, c := range tr.Claims {
					if c.Kept {
						kept++
						if strings.Contains(b.questions("decide")[1].Prompt.User, c.Text) {
							t.Errorf("decide is shown %q", c.Text)
						}
					}
				}
			}
			if kept != tc.kept || lost != tc.lost || res.Claims != tc.claims+tc.kept {
				t.Errorf("%d kept, %d lost, %+v", kept, lost, res)
			}
		})
	}
}

// What the model passes over in a source of which it has taken nothing is kept where that speaks of the block as much as another, not where
// it speaks of another place.
func TestKeptOfOtherSources(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.start.Block.Title, b.start.Block.Queries = "Schools in Elm", []string{"schools in Elm"}
	b.decide = func(int, llm.Request) any { return act(ask("rag_hybrid", "schools in Elm")) }
	b.tools["rag_hybrid"] = func(string) tools.Result {
		r := found("The schools of Elm have 37,308 pupils in 12 buildings.", "The schools in Elm employ 292 teachers on half days.", "The schools of Fir employ 511 teachers on half days.")
		for i, title := range []string{"Schools of Elm", "Teachers of Elm", "Schools of Fir"} {
			r.Sources[i].Title = title
		}
		return r
	}
	b.note = func(llm.Request) any {
		quote := "The schools of Elm have 37,308 pupils in 12 buildings."
		return prompts.NoteAnswer{Summary: "s", Claims: []prompts.NoteClaim{{Source: 1, Text: quote, Quote: quote}}}
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, tr := range b.queue.traces() {
		for _, c := range tr.Claims {
			if c.Kept {
				kept = append(kept, c.Quote)
			}
		}
	}
	if want := []string{"The schools in Elm employ 292 teachers on half days."}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
}
