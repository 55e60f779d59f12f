package text_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/text"
)

// FuzzAlign: a text does not differ from itself, and every reported unit is in its text and reported once.
func FuzzAlign(f *testing.F) {
	f.Add("# A\n\nThe quay is 77 metres long.\n\n| a | b |\n\xff\n|", "The quay is 78 metres long.\n\n- one two\n- two")
	f.Add(`{"a": 1} {"b": 2}`, `{"a": 2}`)
	f.Add("港口长 900 米。另一句。", "港口长 800 米。")
	f.Fuzz(func(t *testing.T, old, now string) {
		if d := text.Align(old, old); len(d.Changed)+len(d.New)+len(d.Withdrawn) > 0 {
			t.Fatalf("%q differs from itself: %+v", old, d)
		}
		d := text.Align(old, now)
		seen := [2]map[int]bool{{}, {}}
		take := func(side int, s string, u text.Unit) {
			if u.Start < 0 || u.Start >= u.End || u.End > len(s) || seen[side][u.Start] {
				t.Fatalf("%+v of %q, again: %v", u, s, seen[side][u.Start])
			}
			seen[side][u.Start] = true
		}
		for _, p := range d.Changed {
			take(0, old, p.Old)
			take(1, now, p.New)
		}
		for _, u := range d.New {
			take(1, now, u)
		}
		for _, u := range d.Withdrawn {
			take(0, old, u)
		}
	})
}

func BenchmarkAlign(b *testing.B) {
	old := strings.Repeat("The quay of the harbour is 77 metres long. It was built in 1911 of granite.\n\nShips of 12 metres may moor there.\n\n", 300)
	now := strings.ReplaceAll(old, "77", "78")
	b.ReportAllocs()
	for b.Loop() {
		text.Align(old, now)
	}
}
