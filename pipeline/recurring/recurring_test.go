package recurring_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/recurring"
	"nightdesk/topicqueue"
)

func TestUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{ // what tells something
		"The quay is 77 metres long. It was built in 1911.":                    {"The quay is 77 metres long.", "It was built in 1911."},
		"# Harbour\n\nHome\n\nTickets 12":                                      nil,
		"Last updated: 3 March 2026, 10:15.":                                   nil,
		"This page was last modified on 3 March 2026.":                         nil,
		"Zuletzt geändert am 3. März 2026.":                                    nil,
		"The bridge was last modified by Smith in 1950 and carries 40 trains.": {"The bridge was last modified by Smith in 1950 and carries 40 trains."},
		"The reconstruction of the harbour cost 10114 guilders.":               {"The reconstruction of the harbour cost 10114 guilders."},
		"| Year | Ships |\n|---|---|\n| 2024 | 500 calls |\n":                  {"| Year | Ships |", "| 2024 | 500 calls |"},
		"": nil,
	} {
		var got []string
		for _, u := range recurring.Units(text) {
			if u.Tells {
				got = append(got, text[u.Start:u.End])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// What is cosmetic leaves no fresh unit, what is not leaves just its own.
func TestFresh(t *testing.T) {
	t.Parallel()
	const page = "## Size\n\nThe harbour covers 5,100 square metres. Its quays are 900 metres long.\n\nThe port employs 500 people."
	marks := recurring.MarksOf(page)
	for text, want := range map[string][]string{
		page: nil,
		"The port employs 500 people.\n\nIts quays are 900 metres long. The harbour  covers\n5,100 square metres.": nil,
		"MENU\n\n" + page + "\n\nPrinted on 3 March 2026.":                                                         nil,
		strings.Replace(page, "500", "620", 1):                                                                     {"The port employs 620 people."},
		page + " The port has 3 tugs of its own.":                                                                  {"The port has 3 tugs of its own."},
		strings.Replace(page, " Its quays are 900 metres long.", "", 1):                                            nil,
	} {
		var got []string
		for _, u := range marks.Fresh(recurring.Units(text)) {
			got = append(got, text[u.Start:u.End])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestMarksInJSON(t *testing.T) {
	t.Parallel()
	want := recurring.MarksOf("The quay is 77 metres long. It was built in 1911.")
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got recurring.Marks
	if err := json.Unmarshal(data, &got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, %v", data, got, err)
	}
	for _, bad := range []string{`"AAAA"`, `"!"`, `7`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestArrived(t *testing.T) {
	t.Parallel()
	list := func(s string) []string { return strings.Fields(s) }
	for _, tt := range []struct {
		name, before, now, known string
		full                     bool
		arrived, doubtful        []int
	}{
		{name: "the same", before: "a b c", now: "a b c", full: true},
		{name: "other order", before: "a b c", now: "c a b", full: true},
		{name: "above", before: "a b c", now: "n a b", full: true, arrived: []int{0}},
		{name: "between", before: "a b c", now: "a n c", full: true, arrived: []int{1}},
		{name: "below, where nobody saw", before: "a b c", now: "a b n", full: true, doubtful: []int{2}},
		{name: "below, of a short list", before: "a b", now: "a b n", arrived: []int{2}},
		{name: "known from another search", before: "a b", now: "k a b", known: "k"},
		{name: "twice", before: "a", now: "n n a", arrived: []int{0}},
		{name: "nothing before", now: "n", arrived: []int{0}},
		{name: "all others", before: "a b", now: "n m", full: true, doubtful: []int{0, 1}},
	} {
		known := func(key string) bool { return slices.Contains(list(tt.before+" "+tt.known), key) }
		arrived, doubtful := recurring.Arrived(list(tt.before), list(tt.now), known, tt.full)
		if !slices.Equal(arrived, tt.arrived) || !slices.Equal(doubtful, tt.doubtful) {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, arrived, doubtful, tt.arrived, tt.doubtful)
		}
	}
}

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

func FuzzUnits(f *testing.F) {
	f.Add("# A\n\nThe quay is 77 metres long.\n\n| a | b |\n\xff\n|", 3, 9)
	f.Add("Last updated: 3 March 2026.\n```\ncode\n```", 0, 40)
	f.Fuzz(func(t *testing.T, text string, start, end int) {
		units := recurring.Units(text)
		for i, u := range units {
			if u.Start < 0 || u.Start >= u.End || u.End > len(text) || i > 0 && u.Start < units[i-1].Start {
				t.Fatalf("unit %+v of %q", u, text)
			}
		}
		if fresh := recurring.MarksOf(text).Fresh(units); len(fresh) > 0 {
			t.Fatalf("%q lacks its own %+v", text, fresh)
		}
		for _, u := range recurring.Over(units, start, end) {
			if u.Start >= end || u.End <= start {
				t.Fatalf("%+v is not over %d to %d", u, start, end)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"schema":1,"key":"k","run_id":"r","pages":{"web:a":{"marks":"AAAAAAAAAAA="}},"blocks":[{"block_id":"block_1","traces":[{"citation_id":"CIT-1-01"}]}]}`))
	f.Add([]byte(`{"schema":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := recurring.Decode(body, "k")
		if err != nil {
			return
		}
		_, _ = m.Block("block_1", "")
		m.Remembered()
		m.Texts()
		m.Seen()
		recurring.Compare(m, []recurring.BlockEvidence{{Block: topicqueue.Block{ID: "block_1"}}})
	})
}
