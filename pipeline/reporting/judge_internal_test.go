package reporting

import (
	"slices"
	"testing"

	"nightdesk/pipeline/judging"
)

// Short sections share a call, and a section that is too long for one has two: no sentence is left out.
func TestTogether(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ sections, calls []int }{
		{[]int{15, 15, 15}, []int{30, 15}},
		{[]int{judging.MostSentences}, []int{judging.MostSentences}},
		{[]int{5, 61, 3}, []int{5, 30, 34}},
		{nil, nil},
	} {
		var sections [][]*decision
		var asked [][]judging.Sentence
		for _, n := range tt.sections {
			sections, asked = append(sections, make([]*decision, n)), append(asked, make([]judging.Sentence, n))
		}
		calls, of := together(sections, asked)
		var got []int
		for i, c := range calls {
			if got = append(got, len(c)); len(of[i]) != len(c) {
				t.Errorf("%v: call %d has %d sentences of %d", tt.sections, i, len(of[i]), len(c))
			}
		}
		if !slices.Equal(got, tt.calls) {
			t.Errorf("%v: calls %v, want %v", tt.sections, got, tt.calls)
		}
	}
}
