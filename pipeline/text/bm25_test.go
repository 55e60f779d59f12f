package text_test

import (
	"math"
	"testing"

	"nightdesk/pipeline/text"
)

func TestBM25(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, query string
		docs        []text.Document
		best        int
		zero        []int
	}{
		{"rare words weigh more", "the capacity of Skagvik",
			[]text.Document{{Text: "capacity capacity"}, {Text: "Skagvik"}, {Text: "capacity"}}, 1, nil},
		{"short texts weigh more", "capacity",
			[]text.Document{{Text: "The capacity of the plant by the sea in the north"}, {Text: "Its capacity"}, {Text: "rain"}}, 1, []int{2}},
		{"headings weigh more", "capacity",
			[]text.Document{{Heading: "Staff", Text: "capacity"}, {Heading: "Capacity", Text: "staff"}}, 1, nil},
		{"chinese", "热泵如何除霜？", []text.Document{{Text: "水泵的流量"}, {Text: "冬天热泵反向运行来除霜。"}}, 1, []int{0}},
		{"nothing asked", "what is the", []text.Document{{Text: "what is the"}, {Text: ""}}, 0, []int{0, 1}},
		{"no documents", "capacity", nil, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			scores := text.BM25(test.query, test.docs)
			if len(scores) != len(test.docs) {
				t.Fatalf("%d scores for %d documents", len(scores), len(test.docs))
			}
			for i, s := range scores {
				if s > scores[test.best] {
					t.Errorf("document %d has %v, document %d only %v", i, s, test.best, scores[test.best])
				}
			}
			for _, i := range test.zero {
				if scores[i] != 0 {
					t.Errorf("document %d has %v, want 0", i, scores[i])
				}
			}
		})
	}
}

// The expected score is computed by hand: two documents of three words on average, one of which has the word, so its
// weight is ln(1 + 1.5/1.5).
func TestBM25Formula(t *testing.T) {
	t.Parallel()
	got := text.BM25("pump", []text.Document{{Text: "pump pump river dam"}, {Text: "river dam"}})
	tf := 2 / (0.25 + 0.75*4/3)
	if want := math.Log(2) * tf * 2.2 / (tf + 1.2); math.Abs(got[0]-want) > 1e-12 || got[1] != 0 {
		t.Errorf("got %v, want %v and 0", got, want)
	}
}
