package topicqueue_test

import (
	"testing"

	"nightdesk/topicqueue"
)

func TestCanonicalQuery(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{"Spring tides: cause?", "cause  SPRING tides", "tides, spring (cause)", "ｓｐｒｉｎｇ tides cause"},
		{"Theorem 3.1", "theorem 3.1.", "“Theorem 3.1”"},
		{"max_wal_size", "max wal size", "MAX-WAL-SIZE"},
		{"春 潮", "潮 春"},
		{"", "?!", " \t", "—"},
	}
	seen := map[string]int{}
	for group, queries := range same {
		for _, q := range queries {
			got := topicqueue.CanonicalQuery(q)
			if want := topicqueue.CanonicalQuery(queries[0]); got != want {
				t.Errorf("CanonicalQuery(%q) = %q, want %q", q, got, want)
			}
			if other, ok := seen[got]; ok && other != group {
				t.Errorf("CanonicalQuery(%q) = %q is that of group %d too", q, got, other)
			}
			seen[got] = group
		}
	}
	different := [][2]string{
		{"Theorem 3.1", "Theorem 31"}, {"Theorem 3.1", "Theorem 13"}, {"C++ locks", "C locks"}, {"C# locks", "C locks"},
		{"tides 2024", "tides 2025"}, {"spring tides", "spring tide heights"},
	}
	for _, d := range different {
		if topicqueue.CanonicalQuery(d[0]) == topicqueue.CanonicalQuery(d[1]) {
			t.Errorf("%q and %q have one canonical form", d[0], d[1])
		}
	}
}

func FuzzCanonicalQuery(f *testing.F) {
	for _, s := range []string{"Spring tides: cause?", "C++ 3.1", "春潮", "\xff.1", "1.,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, q string) {
		once := topicqueue.CanonicalQuery(q)
		if twice := topicqueue.CanonicalQuery(once); twice != once {
			t.Fatalf("not stable: %q -> %q -> %q", q, once, twice)
		}
	})
}
