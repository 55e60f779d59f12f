package researching_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// web is a set of pages by address, with a search that finds all of them in address order, with their first sentences.
type web struct {
	*bench
	pages map[string]string
	down  map[string]bool // pages whose server has a failure
	last  string          // what was returned at the end of the block
}

var quotable = regexp.MustCompile(`[A-Z][^.\n>]*\d[^.\n>]*\.`)

func newWeb(t *testing.T, pages map[string]string, model bool) *web {
	w := &web{bench: newBench(t), pages: map[string]string{}, down: map[string]bool{}}
	for name, text := range pages {
		w.pages["https://site.example/"+name] = text
	}
	w.run.Options.Tools, w.run.Options.MaxIterations, w.run.Options.Incremental = []string{"web_search", "open_page"}, 2, true
	w.start.Block.Queries = []string{"spring tides at the harbour"}
	w.bench.tools = map[string]func(string) tools.Result{"web_search": func(string) tools.Result {
		var r tools.Result
		for _, address := range w.addresses() {
			first, _, _ := strings.Cut(w.pages[address], "\n")
			r.Sources = append(r.Sources, topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "Spring tides", URL: address, Text: first})
		}
		return r
	}, "open_page": func(address string) tools.Result {
		text, there := w.pages[address]
		switch {
		case w.down[address]:
			return tools.Result{Failed: true, Text: "the site has a failure"}
		case !there:
			return tools.Result{Failed: true, Final: true, Gone: true, Text: "no such page"}
		}
		return tools.Result{Text: text, Sources: []topicqueue.Source{{Kind: topicqueue.SourceWeb, Title: "Spring tides", URL: address, Text: text}}}
	}}
	w.decide = func(k int, _ llm.Request) any {
		if k == 1 {
			return act(ask("web_search", "spring tides at the harbour"))
		}
		var actions []prompts.Action
		for _, address := range w.addresses() {
			actions = append(actions, ask("open_page", address))
		}
		return act(actions...)
	}
	w.note = func(req llm.Request) any {
		a := prompts.NoteAnswer{}
		_, sources, _ := strings.Cut(req.Prompt.User, "Sources:")
		sources, _, _ = strings.Cut(sources, "\nThe sources were found for ")
		for n, part := range strings.Split(sources, "\nSource ")[1:] {
			for _, s := range quotable.FindAllString(part, -1) {
				a.Claims = append(a.Claims, prompts.NoteClaim{Source: n + 1, Text: s, Quote: s})
			}
		}
		return a
	}
	if !model {
		w.r.Model = nil
	}
	w.r.MaxActions = 5
	return w
}

func (w *web) addresses() []string {
	var list []string
	for address := range w.pages {
		list = append(list, address)
	}
	slices.Sort(list)
	return list
}

// first researches the block and returns its memory.
func (w *web) first() *recurring.Memory {
	w.t.Helper()
	result, err := w.research()
	if err != nil {
		w.t.Fatal(err)
	}
	w.last = result.Returned
	return w.remembered(nil)
}

func (w *web) remembered(base *recurring.Memory) *recurring.Memory {
	w.t.Helper()
	m := recurring.Make(base, recurring.Ended{Run: w.run, Plan: topicqueue.Plan{Topic: w.run.Topic}, Blocks: w.blocks(), Returned: w.all()})
	if m == nil {
		w.t.Fatal("nothing is remembered")
	}
	return m
}

// all returns the sources returned by the block's calls.
func (w *web) all() (list []topicqueue.Returned) {
	w.t.Helper()
	hashes := []string{w.last}
	for _, cp := range w.queue.checkpoints {
		hashes = append(hashes, cp.Returned)
	}
	for _, hash := range hashes {
		calls, err := topicqueue.DecodeReturned(w.bench.pages[hash])
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, calls...)
	}
	return list
}

func (w *web) blocks() []recurring.BlockEvidence {
	block := w.start.Block
	block.Status, block.Iterations = topicqueue.BlockCompleted, len(w.queue.checkpoints)
	return []recurring.BlockEvidence{{Block: block, Traces: w.queue.traces()}}
}

// again refreshes the block a night later, and returns the changes and the number of model calls.
func (w *web) again(m *recurring.Memory) (recurring.Changes, int) {
	w.t.Helper()
	w.queue = &memoryQueue{view: w.start.View, max: 8, emit: w.r.Emit}
	w.asked = nil
	w.run.ID = "research_20260102_000000_bbbbbbbbbb"
	w.r.Now = func() time.Time { return time.Date(2026, 1, 2, 5, 0, 0, 0, time.UTC) }
	old, ok := m.Block(w.start.Block.ID, w.start.Block.Title)
	if !ok {
		w.t.Fatal("the block is not remembered")
	}
	result, err := w.r.Refresh(w.t.Context(), w.run, w.run.Topic, w.start, m, old, w.queue)
	if err != nil {
		w.t.Fatal(err)
	}
	w.last = result.Returned
	for _, t := range w.queue.traces() { // every quote stands where its claim says, in a text of the bundle
		for _, c := range slices.Concat(t.Claims, t.Withdrawn) {
			if text := w.bench.pages[t.Source.Hash]; c.End > len(text) || text[c.Start:c.End] != c.Quote {
				w.t.Errorf("%s: %q does not stand at %d", c.ID, c.Quote, c.Start)
			}
		}
	}
	return recurring.Compare(m, "2026-03-02", w.blocks()), len(w.asked)
}

// what formats changes as lines.
func what(c recurring.Changes) []string {
	lines := []string{}
	for _, s := range c.New {
		lines = append(lines, "new: "+s.Quote)
	}
	for _, ch := range c.Changed {
		lines = append(lines, fmt.Sprintf("%s %s -> %s: %s", ch.Kind, ch.Old.Value, ch.New.Value, ch.New.Quote))
	}
	for _, w := range c.Withdrawn {
		line := "withdrawn: " + w.Quote
		if w.Gone {
			line += " (gone)"
		}
		lines = append(lines, line)
	}
	if c.Unchecked > 0 {
		lines = append(lines, fmt.Sprint("unchecked: ", c.Unchecked))
	}
	return lines
}

const (
	tidesA = "Spring tides at the harbour rise by 7 metres.\n\nThe gauge of the harbour was built in 1911. Visitors may look at the gauge on 3 days of the week.\n\nThe old pier is popular."
	tidesB = "Spring tides at the harbour flood the lower quay on 24 days of a year.\n\nThe lower quay lies 4 metres above the sea."
)

// TestRefresh: changes of a page and how they are reported.
func TestRefresh(t *testing.T) {
	t.Parallel()
	replaced := func(page, old, now string) func(*web) {
		return func(w *web) {
			address := "https://site.example/" + page
			if !strings.Contains(w.pages[address], old) {
				panic(old)
			}
			w.pages[address] = strings.Replace(w.pages[address], old, now, 1)
		}
	}
	for _, tt := range []struct {
		name  string
		edit  func(*web)
		want  []string
		calls int // of the model
	}{
		{name: "nothing", edit: func(*web) {}},
		{name: "white space, quotation marks and case", edit: replaced("a", "The gauge of the harbour was", "The  gauge\nof the Harbour was")},
		{name: "a line about the delivery", edit: replaced("a", "The old pier is popular.", "The old pier is popular.\n\nLast updated: 2 January 2026.\n\nThis page was generated on 2 January 2026 at 04:11.")},
		{name: "labels of a menu", edit: replaced("a", "The old pier is popular.", "The old pier is popular.\n\nWinter offers 2026\n\n- Tickets 12\n- Login\n\n5 comments")},
		{name: "paragraphs in another order", edit: func(w *web) {
			w.pages["https://site.example/a"] = "The old pier is popular.\n\nVisitors may look at the gauge on 3 days of the week. The gauge of the harbour was built in 1911.\n\nSpring tides at the harbour rise by 7 metres."
		}},
		{name: "a sentence that is not about figures", edit: replaced("a", "The old pier is popular.", "The old pier is not popular any more."), calls: 1},
		{name: "a number", edit: replaced("a", "7 metres", "8 metres"), calls: 1, want: []string{"value 7 metres -> 8 metres: Spring tides at the harbour rise by 8 metres."}},
		{name: "a year", edit: replaced("a", "1911", "1913"), calls: 1, want: []string{"date 1911 -> 1913: The gauge of the harbour was built in 1913."}},
		{name: "a number, in a sentence with more words", edit: replaced("a", "rise by 7 metres.", "rise by 9 metres in most years."), calls: 1,
			want: []string{"value 7 metres -> 9 metres: Spring tides at the harbour rise by 9 metres in most years."}},
		{name: "the same in other words", edit: replaced("a", "The gauge of the harbour was built in 1911.", "The harbour's gauge was built in 1911."), calls: 1,
			want: []string{"words gauge of the harbour -> harbour's gauge: The harbour's gauge was built in 1911."}},
		{name: "words around the quote", edit: replaced("a", "Spring tides at the harbour rise by 7 metres.", "As everybody knows, spring tides at the harbour rise by 7 metres."), calls: 1,
			want: []string{"words Spring -> As everybody knows, spring: As everybody knows, spring tides at the harbour rise by 7 metres."}},
		{name: "a new sentence", edit: replaced("a", "The old pier is popular.", "The old pier is popular. A new tide table covers 40 harbours."), calls: 1,
			want: []string{"new: A new tide table covers 40 harbours."}},
		{name: "a sentence that is gone", edit: replaced("b", "\n\nThe lower quay lies 4 metres above the sea.", ""),
			want: []string{"withdrawn: The lower quay lies 4 metres above the sea."}},
		{name: "a page that is gone", edit: func(w *web) { delete(w.pages, "https://site.example/b") }, want: []string{
			"withdrawn: Spring tides at the harbour flood the lower quay on 24 days of a year. (gone)",
			"withdrawn: The lower quay lies 4 metres above the sea. (gone)"}},
		{name: "a page that is gone, but another says the same", edit: func(w *web) {
			delete(w.pages, "https://site.example/b")
			w.pages["https://site.example/c"] = tidesB
		}},
		{name: "a page that has moved", edit: func(w *web) {
			w.pages["https://site.example/moved"] = w.pages["https://site.example/a"]
			delete(w.pages, "https://site.example/a")
		}},
		{name: "a server that fails", edit: func(w *web) { w.down["https://site.example/a"] = true }, want: []string{"unchecked: 1"}},
		{name: "a new page", edit: func(w *web) {
			w.pages["https://site.example/c"] = "Spring tides at the harbour will be measured by 6 buoys.\n\nThe old pier is popular."
		}, calls: 1, want: []string{"new: Spring tides at the harbour will be measured by 6 buoys."}},
		{name: "a new page that says what is known", edit: func(w *web) {
			w.pages["https://site.example/c"] = "Spring tides at the harbour rise by 7 metres."
		}},
		{name: "a new page that contradicts one that stays", edit: func(w *web) {
			w.pages["https://site.example/c"] = "Spring tides at the harbour rise by 5 metres."
		}, calls: 1, want: []string{"new: Spring tides at the harbour rise by 5 metres."}},
		{name: "a number that moves to another page", edit: func(w *web) {
			replaced("a", "Spring tides at the harbour rise by 7 metres.", "Spring tides are described elsewhere.")(w)
			w.pages["https://site.example/c"] = "Spring tides at the harbour rise by 9 metres."
		}, calls: 1, want: []string{"value 7 metres -> 9 metres: Spring tides at the harbour rise by 9 metres."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, map[string]string{"a": tidesA, "b": tidesB}, true)
			m := w.first()
			tt.edit(w)
			changes, calls := w.again(m)
			if tt.want == nil {
				tt.want = []string{}
			}
			if diff := cmp.Diff(tt.want, what(changes)); diff != "" {
				t.Error(diff)
			}
			if calls != tt.calls {
				t.Errorf("%d calls of the model, want %d", calls, tt.calls)
			}
			// The following night knows all of this.
			second := w.remembered(m)
			if changes, calls := w.again(second); !changes.None() || calls > 0 {
				t.Errorf("the night after: %q, %d calls", what(changes), calls)
			}
		})
	}
}

// TestKeptClaimIsQuotedFromTonight: a valid claim of a changed page keeps its number and text, and is quoted from
// tonight's page. Only statements that the page no longer makes have an earlier date.
func TestKeptClaimIsQuotedFromTonight(t *testing.T) {
	t.Parallel()
	const quay = "Spring tides at the harbour flood the lower quay on 24 days of a year."
	w := newWeb(t, map[string]string{"a": tidesA, "b": quay + " The quay is closed then."}, true)
	night := "first"
	note := w.note
	w.note = func(req llm.Request) any {
		a := note(req).(prompts.NoteAnswer)
		for i := range a.Claims {
			a.Claims[i].Text = "Noted on the " + night + " night: " + a.Claims[i].Quote
		}
		return a
	}
	claims := func() (list []string) {
		for _, trace := range w.queue.traces() {
			for _, c := range trace.Claims {
				now := strings.HasPrefix(w.pages[trace.Source.URL], trace.Source.Text)
				list = append(list, fmt.Sprintf("%s %s, tonight's text: %v, as of: %v",
					c.ID, c.Text, now, trace.Source.AsOf != nil))
			}
		}
		slices.Sort(list)
		return list
	}
	m := w.first()
	want := claims()
	night = "second"
	for _, end := range []string{"The quay is open then.", "The quay is open then.", "The quay is closed then."} {
		w.pages["https://site.example/a"] = strings.Replace(tidesA, "popular", end, 1)
		w.pages["https://site.example/b"] = quay + " " + end
		w.again(m)
		got := claims()
		for _, c := range want {
			if !slices.Contains(got, c) {
				t.Errorf("%s: %q is not kept: %q", end, c, got)
			}
		}
		m = w.remembered(m)
	}
}

// TestChangeBesideANotedOne: a change next to a noted change is reported too.
func TestChangeBesideANotedOne(t *testing.T) {
	t.Parallel()
	const before = "At spring tides the ferries made 4 crossings. They carried 900 people. " +
		"They were often late in dense fog at night."
	after := strings.NewReplacer("4", "6", "900", "1,200", "often late", "seldom late").Replace(before)
	const first = "value 4 -> 6: At spring tides the ferries made 6 crossings."
	const second = "value 900 -> 1,200: They carried 1,200 people."
	const third = "words often -> seldom: They were seldom late in dense fog at night."
	for name, tt := range map[string]struct {
		note string
		want []string
	}{
		"the note says it":       {"In 2026 the ferries make 6 crossings with 1,200 people.", []string{first, second, third}},
		"the note does not":      {"In 2026 the ferries make 6 crossings.", []string{first, second, third}},
		"nothing has been noted": {"", []string{first, second, third}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, map[string]string{"a": before}, true)
			m := w.first()
			note := w.note
			w.note = func(req llm.Request) any {
				a := note(req).(prompts.NoteAnswer)
				if a.Claims = a.Claims[:min(1, len(a.Claims))]; tt.note == "" {
					a.Claims = nil
				}
				for i := range a.Claims {
					a.Claims[i].Text = tt.note
				}
				return a
			}
			w.pages["https://site.example/a"] = after
			changes, _ := w.again(m)
			if diff := cmp.Diff(tt.want, what(changes)); diff != "" {
				t.Error(diff)
			}
			if got := changes.Changed[0].New.Statement; tt.note != "" && got != tt.note {
				t.Errorf("told as %q", got)
			}
		})
	}
}
