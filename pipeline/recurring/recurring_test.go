package recurring_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

func TestKey(t *testing.T) {
	t.Parallel()
	o := topicqueue.Options{Tools: []string{"web_search", "open_page"}}
	key := recurring.Key("What is dark matter?", o)
	other := o
	other.Tools = []string{"open_page", "web_search"}
	if again := recurring.Key(" what is  dark matter", other); again != key || len(key) != 32 {
		t.Errorf("keys %q and %q", key, again)
	}
	private := o
	private.KnowledgeBase = "secret"
	fewer := o
	fewer.Tools = o.Tools[:1]
	for _, differs := range []string{recurring.Key("What is dark energy?", o), recurring.Key("What is dark matter?", private), recurring.Key("What is dark matter?", fewer)} {
		if differs == key {
			t.Errorf("another topic, base or set of tools has key %q", key)
		}
	}
}

func TestLater(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	m := &recurring.Memory{RunID: "b", CreatedAt: at, Epoch: 1}
	for name, tt := range map[string]struct {
		other *recurring.Memory
		want  bool
	}{
		"none":                     {nil, true},
		"an earlier run":           {&recurring.Memory{RunID: "z", CreatedAt: at.Add(-time.Hour)}, true},
		"a later run":              {&recurring.Memory{RunID: "a", CreatedAt: at.Add(time.Hour)}, false},
		"of the same moment":       {&recurring.Memory{RunID: "a", CreatedAt: at}, true},
		"the same run":             {&recurring.Memory{RunID: "b", CreatedAt: at, Epoch: 1}, false},
		"an attempt before":        {&recurring.Memory{RunID: "b", CreatedAt: at, Epoch: 0}, true},
		"an attempt that is later": {&recurring.Memory{RunID: "b", CreatedAt: at, Epoch: 2}, false},
	} {
		if got := m.Later(tt.other); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"schema":2,"key":"k","run_id":"r","pages":{"web:a":{"sha256":"x","opened":true}},"blocks":[{"block_id":"block_1","traces":[{"citation_id":"CIT-1-01"}]}]}`))
	f.Add([]byte(`{"schema":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := recurring.Decode(body, "k")
		if err != nil {
			return
		}
		_, _ = m.Block("block_1", "")
		m.Remembered()
		m.Texts()
		m.Figures()
		recurring.Compare(m, "2026-03-02", []recurring.BlockEvidence{{Block: topicqueue.Block{ID: "block_1"}}})
	})
}

// Findings of all blocks are combined. Each fact is listed once, and a fact that moved to another source is not a
// change.
func TestCompare(t *testing.T) {
	t.Parallel()
	quote := func(id, s string) topicqueue.Claim { return topicqueue.Claim{CitationID: id, Text: s, Quote: s} }
	pair := func(old, now string) topicqueue.Claim {
		c, n := quote("CIT-1-09", old), quote("CIT-1-02", now)
		c.Now = &n
		return c
	}
	const costs, dearer = "The quay of Alder costs 12 euros.", "The quay of Alder costs 14 euros."
	for _, tt := range []struct {
		name   string
		traces []topicqueue.ToolTrace
		want   []string
	}{
		{"nothing", []topicqueue.ToolTrace{{Since: "2026-03-01", Claims: []topicqueue.Claim{quote("CIT-1-01", costs)}}}, nil},
		{"changed, in two sources", []topicqueue.ToolTrace{
			{Withdrawn: []topicqueue.Claim{pair(costs, dearer)}}, {Withdrawn: []topicqueue.Claim{pair(costs, dearer)}},
		}, []string{"value 12 euros -> 14 euros"}},
		{"changed alike, of two subjects", []topicqueue.ToolTrace{
			{Withdrawn: []topicqueue.Claim{pair(costs, dearer)}}, {Withdrawn: []topicqueue.Claim{pair("The quay of Elm costs 12 euros.", "The quay of Elm costs 14 euros.")}},
		}, []string{"value 12 euros -> 14 euros", "value 12 euros -> 14 euros"}},
		{"moved", []topicqueue.ToolTrace{
			{Withdrawn: []topicqueue.Claim{quote("CIT-1-09", costs)}}, {Added: []topicqueue.Claim{quote("CIT-1-02", costs)}},
		}, nil},
		{"moved and changed", []topicqueue.ToolTrace{
			{Withdrawn: []topicqueue.Claim{quote("CIT-1-09", costs)}}, {Added: []topicqueue.Claim{quote("CIT-1-02", dearer)}},
		}, []string{"value 12 euros -> 14 euros"}},
		{"another subject in its place", []topicqueue.ToolTrace{
			{Withdrawn: []topicqueue.Claim{quote("CIT-1-09", costs)}}, {Added: []topicqueue.Claim{quote("CIT-1-02", "The quay of Elm costs 14 euros.")}},
		}, []string{"new The quay of Elm costs 14 euros.", "withdrawn " + costs}},
		{"known from what stands", []topicqueue.ToolTrace{
			{Since: "2026-03-01", Claims: []topicqueue.Claim{quote("CIT-1-01", costs)}}, {Added: []topicqueue.Claim{quote("CIT-1-02", "Today the quay of Alder costs 12 euros.")}},
		}, nil},
		{"not asked", []topicqueue.ToolTrace{{Unchecked: true, Since: "2026-03-01"}}, []string{"unchecked"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := &recurring.Memory{Date: "2026-03-01", RunID: "r", Blocks: []recurring.Block{{ID: "block_1"}}}
			c := recurring.Compare(m, "2026-03-02", []recurring.BlockEvidence{{Block: topicqueue.Block{ID: "block_1"},
				Traces: tt.traces}})
			var got []string
			for _, s := range c.New {
				got = append(got, "new "+s.Quote)
			}
			for _, ch := range c.Changed {
				got = append(got, ch.Kind+" "+ch.Old.Value+" -> "+ch.New.Value)
			}
			for _, s := range c.Withdrawn {
				got = append(got, "withdrawn "+s.Quote)
			}
			if c.Unchecked > 0 {
				got = append(got, "unchecked")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A rephrased statement is not a change if the model noted the same of both. Another figure is a change.
func TestRestated(t *testing.T) {
	t.Parallel()
	const noted = "The police see no focus of crime in the library."
	before := "We do not consider the library a focus of crime."
	for name, tt := range map[string]struct {
		old, now, again string
		told            int
	}{
		"restated": {before, "In our view the library is not a focus of crime.", noted, 0},
		"noted otherwise": {before, "In our view the library has become a focus of crime.",
			"The police see a focus of crime in the library.", 1},
		"not noted":         {before, "In our view the library has become a focus of crime.", "", 1},
		"with other figure": {"We know of 5 cases.", "We know of 9 cases.", noted, 1},
	} {
		now := topicqueue.Claim{Quote: tt.now, Text: tt.now}
		old := topicqueue.Claim{Quote: tt.old, Text: noted, Now: &now}
		trace := topicqueue.ToolTrace{CitationID: "CIT-1-02", Withdrawn: []topicqueue.Claim{old}}
		if tt.again != "" {
			trace.Claims = []topicqueue.Claim{{Quote: "Dear Madam. " + tt.now, Text: tt.again}}
		}
		got := recurring.Compare(&recurring.Memory{Date: "2026-03-01"}, "2026-03-02", []recurring.BlockEvidence{{
			Block: topicqueue.Block{ID: "block_1"}, Traces: []topicqueue.ToolTrace{trace}}})
		if len(got.Changed) != tt.told {
			t.Errorf("%s: %+v", name, got.Changed)
		}
	}
}

// A withdrawn paragraph is listed as a whole, and documents with the same title are distinguished.
func TestToldByParagraph(t *testing.T) {
	t.Parallel()
	source := func(document string) topicqueue.Source {
		return topicqueue.Source{Kind: topicqueue.SourceDocument, ID: document, Title: "Figures", Document: document}
	}
	at := func(document, quote string, start int) topicqueue.Claim {
		return topicqueue.Claim{
			CitationID: "CIT-1-09", SourceID: document, Text: quote, Quote: quote, Start: start, End: start + len(quote),
		}
	}
	traces := []topicqueue.ToolTrace{
		{Source: source("alder.md"), Withdrawn: []topicqueue.Claim{
			at("alder.md", "Alder has 3 quays.", 0), at("alder.md", "They are long.", 19),
			at("alder.md", "It has 4 cranes.", 35),
		}},
		{Source: source("elm.md"), Withdrawn: []topicqueue.Claim{
			at("elm.md", "| Elm | 5 |", 0), at("elm.md", "| Oak | 6 |", 12),
		}},
	}
	found := recurring.BlockEvidence{Block: topicqueue.Block{ID: "block_1"}, Traces: traces}
	c := recurring.Compare(&recurring.Memory{Date: "2026-03-01"}, "2026-03-02", []recurring.BlockEvidence{found})
	var got []string
	for _, s := range c.Withdrawn {
		got = append(got, s.Title+": "+s.Statement)
	}
	want := []string{
		"Figures, alder.md: Alder has 3 quays. They are long.", "Figures, alder.md: It has 4 cranes.",
		"Figures, elm.md: Elm · 5", "Figures, elm.md: Oak · 6",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Statements of a new document are listed together, in its order and as noted by a model, whichever block read it.
func TestNewDocument(t *testing.T) {
	t.Parallel()
	const body = "Elm decided. It drops 480 beds. It proposes 380 beds. The fund refused it. It asked for 6 million."
	trace := func(id string, offset, end int, notes map[string]string) topicqueue.ToolTrace {
		out := topicqueue.ToolTrace{CitationID: id, Source: topicqueue.Source{
			Kind: topicqueue.SourceDocument, ID: fmt.Sprint("src_", offset), Title: "Decision", Document: "new.md",
			Publisher: "Elm", Date: "2026-03-02", Offset: offset,
		}}
		for _, u := range text.Units(body[offset:end]) {
			quote := body[offset:end][u.Start:u.End]
			c := topicqueue.Claim{CitationID: id, SourceID: out.Source.ID, Text: quote, Quote: quote, Start: u.Start, End: u.End}
			for of, note := range notes {
				if strings.Contains(quote, of) {
					noted := c
					noted.ID, noted.Text = id+of, note
					out.Claims, out.Added = append(out.Claims, noted), append(out.Added, c)
				}
			}
		}
		return out
	}
	fund := strings.Index(body, "The fund")
	found := []recurring.BlockEvidence{
		{Block: topicqueue.Block{ID: "block_1"}, Traces: []topicqueue.ToolTrace{
			trace("CIT-1-01", fund, len(body), map[string]string{"6 million": "Elm asked for 6 million."}),
			trace("CIT-1-02", 0, fund, map[string]string{"380": "Elm proposes 380 beds."}),
		}},
		{Block: topicqueue.Block{ID: "block_2"}, Traces: []topicqueue.ToolTrace{
			trace("CIT-2-01", 0, fund, map[string]string{"480": "Elm drops 480 beds.", "380": "380 beds are proposed."}),
			trace("CIT-2-02", fund, len(body), map[string]string{"refused": "The fund refused Elm."}),
		}},
	}
	c := recurring.Compare(&recurring.Memory{Date: "2026-03-01"}, "2026-03-02", found)
	var got []string
	for _, s := range c.New {
		got = append(got, fmt.Sprintf("%s, %s: %s %v", s.Title, s.About, s.Statement, s.Citations))
	}
	want := []string{
		"Decision, Elm, 2026-03-02: Elm drops 480 beds. [CIT-2-01]",
		"Decision, Elm, 2026-03-02: Elm proposes 380 beds. [CIT-1-02 CIT-2-01]",
		"Decision, Elm, 2026-03-02: The fund refused Elm. [CIT-2-02]",
		"Decision, Elm, 2026-03-02: Elm asked for 6 million. [CIT-1-01]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The day of the last report is shown with its time if the new report has the same day.
func TestSince(t *testing.T) {
	t.Parallel()
	ended := time.Date(2026, 3, 1, 5, 40, 0, 0, time.UTC)
	m := recurring.Memory{Date: "2026-03-01", CreatedAt: ended.Add(-time.Hour), EndedAt: ended}
	for today, want := range map[string]string{"2026-03-02": "2026-03-01", "2026-03-01": "2026-03-01 05:40 UTC"} {
		if got := recurring.Compare(&m, today, nil).Since; got != want {
			t.Errorf("on %s: since %q, want %q", today, got, want)
		}
	}
}
