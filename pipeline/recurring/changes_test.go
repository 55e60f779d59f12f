package recurring_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/recurring"
	"nightdesk/topicqueue"
)

// trace is one source with claims that are their own quotes. kind: fresh, standing, lost or gone.
func trace(block, seq int, page, kind string, texts ...string) topicqueue.ToolTrace {
	t := topicqueue.ToolTrace{
		CitationID: topicqueue.BlockCitationID(block, seq),
		Source:     topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "Harbour", URL: "https://" + page, Hash: page + kind},
	}
	at := 0
	for i, text := range texts {
		c := topicqueue.Claim{ID: fmt.Sprintf("%s.%d", t.CitationID, i+1), CitationID: t.CitationID, Text: text, Quote: text, Start: at, End: at + len(text)}
		at = c.End + 1
		if kind == "lost" || kind == "gone" {
			c.CitationID = "CIT-9-99" // of that night
			t.Withdrawn = append(t.Withdrawn, c)
			t.Source.AsOf = &topicqueue.AsOf{RunID: "old", Date: "2026-03-01", Gone: kind == "gone"}
			continue
		}
		t.Claims = append(t.Claims, c)
		if kind == "standing" {
			t.Since = "2026-03-01"
		}
	}
	return t
}

func TestCompare(t *testing.T) {
	t.Parallel()
	type traces = []topicqueue.ToolTrace
	for _, tt := range []struct {
		name      string
		one, two  traces // of two blocks
		fresh     []string
		changed   []string
		withdrawn []string
	}{
		{name: "nothing", one: traces{trace(1, 1, "a", "standing", "Alder Harbour employs 500 people.")}},
		{name: "told in two blocks",
			one:   traces{trace(1, 2, "a", "fresh", "Alder Harbour employs 500 people."), trace(1, 3, "b", "fresh", "The pier of Alder Harbour has 3 lamps.")},
			two:   traces{trace(2, 2, "a", "fresh", "500 people are employed at Alder Harbour.")},
			fresh: []string{"Alder Harbour employs 500 people. CIT-1-02 CIT-2-02", "The pier of Alder Harbour has 3 lamps. CIT-1-03"}},
		{name: "new, though another page said it before",
			one: traces{trace(1, 1, "a", "standing", "Alder Harbour employs 500 people."), trace(1, 2, "b", "fresh", "Alder Harbour employs 500 people.")}},
		{name: "changed in two blocks",
			one:     traces{trace(1, 2, "a", "fresh", "Alder Harbour employs 620 people."), trace(1, 3, "a", "lost", "Alder Harbour employs 500 people.")},
			two:     traces{trace(2, 2, "a", "fresh", "Alder Harbour employs 620 people."), trace(2, 3, "a", "lost", "Alder Harbour employs 500 people.")},
			changed: []string{"500 CIT-1-03 CIT-2-03 -> 620 CIT-1-02 CIT-2-02"}},
		{name: "changed on the page where it stood, not on the other",
			one: traces{trace(1, 2, "b", "fresh", "Alder Harbour employs 900 people."), trace(1, 3, "a", "fresh", "Alder Harbour employs 620 people."),
				trace(1, 4, "a", "lost", "Alder Harbour employs 500 people.")},
			changed: []string{"500 CIT-1-04 -> 620 CIT-1-03"}, fresh: []string{"Alder Harbour employs 900 people. CIT-1-02"}},
		{name: "withdrawn in two blocks",
			one:       traces{trace(1, 2, "a", "gone", "Alder Harbour employs 500 people.")},
			two:       traces{trace(2, 2, "a", "gone", "Alder Harbour employs 500 people.")},
			withdrawn: []string{"Alder Harbour employs 500 people. CIT-1-02 CIT-2-02 true"}},
		{name: "said by another source", one: traces{trace(1, 2, "a", "gone", "Alder Harbour employs 500 people.")},
			two: traces{trace(2, 1, "b", "standing", "500 people are employed at Alder Harbour.")}},
		{name: "another source said otherwise all the time", one: traces{trace(1, 2, "a", "lost", "Alder Harbour employs 500 people.")},
			two:       traces{trace(2, 1, "b", "standing", "Alder Harbour employs 620 people.")},
			withdrawn: []string{"Alder Harbour employs 500 people. CIT-1-02 false"}},
		{name: "other subjects", one: traces{trace(1, 2, "a", "lost", "Alder Harbour employs 500 people."), trace(1, 3, "b", "fresh", "Birch Harbour employs 620 people.")},
			fresh: []string{"Birch Harbour employs 620 people. CIT-1-03"}, withdrawn: []string{"Alder Harbour employs 500 people. CIT-1-02 false"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := &recurring.Memory{RunID: "old", Date: "2026-03-01", Blocks: []recurring.Block{{ID: "block_1"}, {ID: "block_2"}}}
			c := recurring.Compare(m, []recurring.BlockEvidence{
				{Block: topicqueue.Block{ID: "block_1"}, Traces: tt.one}, {Block: topicqueue.Block{ID: "block_2"}, Traces: tt.two}})
			var fresh, changed, withdrawn []string
			cited := func(s recurring.Said) (out string) {
				for _, id := range s.Citations {
					out += " " + id
				}
				return out
			}
			for _, s := range c.New {
				fresh = append(fresh, s.Quote+cited(s))
			}
			for _, ch := range c.Changed {
				changed = append(changed, ch.Old.Value+cited(ch.Old)+" -> "+ch.New.Value+cited(ch.New))
			}
			for _, w := range c.Withdrawn {
				withdrawn = append(withdrawn, fmt.Sprint(w.Quote, cited(w.Said), " ", w.Gone))
			}
			for _, pair := range [][2][]string{{tt.fresh, fresh}, {tt.changed, changed}, {tt.withdrawn, withdrawn}} {
				if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
					t.Error(diff)
				}
			}
			if c.Since != "2026-03-01" || c.RunID != "old" || c.None() != (len(fresh)+len(changed)+len(withdrawn) == 0) {
				t.Errorf("%+v", c)
			}
		})
	}
}

// What research that was missing finds on pages that were there before is no news; on others it is.
func TestCompareUnfinished(t *testing.T) {
	t.Parallel()
	m := &recurring.Memory{RunID: "old", Date: "2026-03-01", Blocks: []recurring.Block{{ID: "block_1", Unfinished: true}},
		Pages: map[string]recurring.Page{recurring.AddressKey("https://a"): {}}}
	c := recurring.Compare(m, []recurring.BlockEvidence{{Block: topicqueue.Block{ID: "block_1"}, Traces: []topicqueue.ToolTrace{
		trace(1, 1, "a", "fresh", "Alder Harbour employs 500 people."), trace(1, 2, "b", "fresh", "The pier of Alder Harbour has 3 lamps.")}}})
	if len(c.New) != 1 || c.New[0].Quote != "The pier of Alder Harbour has 3 lamps." {
		t.Errorf("%+v", c.New)
	}
}
