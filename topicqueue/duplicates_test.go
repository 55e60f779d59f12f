package topicqueue_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"nightdesk/topicqueue"
)

// pairwise returns the result of Duplicates by comparing all pairs.
func pairwise(titles, scopes []string) []int32 {
	out := make([]int32, len(titles))
	for i := range titles {
		out[i] = -1
		for j := range i {
			if out[j] < 0 && scopes[i] == scopes[j] && topicqueue.Duplicate(titles[i], titles[j]) {
				out[i] = int32(j)
				break
			}
		}
	}
	return out
}

func checkDuplicates(t *testing.T, titles, scopes []string) (found int) {
	t.Helper()
	d := topicqueue.NewDuplicates()
	for i := range titles {
		d.Add(titles[i], scopes[i])
	}
	want := pairwise(titles, scopes)
	for i, got := range d.Find(func(i int) string { return titles[i] }) {
		if got != want[i] {
			t.Errorf("%q duplicates %d, want %d", titles[i], got, want[i])
		}
		if got >= 0 {
			found++
		}
	}
	return found
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	titles := []string{
		"How do heat pumps work in winter?", "how do heat pumps work in WINTER", "Heat pumps: how do they work in winter",
		"EU banks 2024", "UK banks 2024", "EU banks 2025", "Banks of the EU, 2024", "the of and", "The Of And!", "???", "!!!", "",
		"supervised learning of very large language models for code", "unsupervised learning of very large language models for code",
		"日本の銀行2024年", "日本の銀行2025年", "日本の銀行2024年。",
	}
	scopes := make([]string, len(titles))
	if n := checkDuplicates(t, titles, scopes); n < 4 {
		t.Errorf("%d duplicates were found", n)
	}
	scopes[1] = "another"
	checkDuplicates(t, titles, scopes)
}

// TestDuplicatesOfMany compares Duplicates with pairwise on titles of few words, many of which are similar.
func TestDuplicatesOfMany(t *testing.T) {
	t.Parallel()
	words := strings.Fields("harbour quay crane pilot tugboat Inspection of the cost repair 2024 2025 EU winter storm harbours unpiloted dredging lock overview")
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 6 {
		var titles, scopes []string
		for range 50 {
			var title []string
			for range 1 + r.IntN(4+2*round) {
				title = append(title, words[r.IntN(len(words))])
			}
			titles, scopes = append(titles, strings.Join(title, " ")), append(scopes, fmt.Sprint(r.IntN(2)))
			if r.IntN(3) == 0 { // the same in other words
				r.Shuffle(len(title), func(i, j int) { title[i], title[j] = title[j], title[i] })
				titles, scopes = append(titles, strings.Join(title[:max(1, len(title)-r.IntN(2))], " the ")), append(scopes, "0")
			}
		}
		if n := checkDuplicates(t, titles, scopes); n == 0 {
			t.Error("nothing was found")
		}
	}
}

func FuzzDuplicates(f *testing.F) {
	f.Add("EU banks 2024\nbanks EU 2024\nUK banks")
	f.Fuzz(func(t *testing.T, list string) {
		titles := strings.Split(list, "\n")
		if len(titles) < 200 {
			checkDuplicates(t, titles, make([]string, len(titles)))
		}
	})
}

// BenchmarkDuplicates finds duplicates among 100,000 titles of each kind.
func BenchmarkDuplicates(b *testing.B) {
	const n = 100_000
	vocabulary := make([]string, 3000)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("w%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
	}
	for _, kind := range []struct {
		name  string
		title func(r *rand.Rand, i int) string
	}{
		{"numbered", func(_ *rand.Rand, i int) string {
			return fmt.Sprintf("What is known about the inspection of harbour number %d and of its quays, cranes, pilots and tugboats?", i)
		}},
		{"words", func(r *rand.Rand, _ int) string {
			var w []string
			for range 10 {
				w = append(w, vocabulary[int(float64(len(vocabulary))*r.Float64()*r.Float64())])
			}
			return strings.Join(w, " ")
		}},
		{"few words", func(r *rand.Rand, _ int) string {
			var w []string
			for range 10 {
				w = append(w, vocabulary[r.IntN(60)])
			}
			return strings.Join(w, " ")
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, d := rand.New(rand.NewPCG(1, 2)), topicqueue.NewDuplicates()
				titles := make([]string, n)
				for i := range titles {
					titles[i] = kind.title(r, i)
					d.Add(titles[i], "")
				}
				found := 0
				for _, other := range d.Find(func(i int) string { return titles[i] }) {
					if other >= 0 {
						found++
					}
				}
				b.ReportMetric(float64(found), "found")
			}
		})
	}
}
