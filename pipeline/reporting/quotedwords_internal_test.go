package reporting

import (
	"testing"

	"nightdesk/topicqueue"
)

// The options of a run say how much a report without a model quotes. Runs from before that option keep their length.
func TestQuotedWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		preset       string
		option, want int
	}{
		{"nightly", 600, 600}, {"quick", 400, 400},
		{"shallow", 0, 300}, {"quick", 0, 300}, {"medium", 0, 900}, {"route", 0, 900}, {"deep", 0, 1800}, {"auto", 0, 1800},
	} {
		run := topicqueue.Run{Options: topicqueue.Options{Preset: tc.preset, QuotedWords: tc.option}}
		if got := (&writer{run: run}).quotedWords(); got != tc.want {
			t.Errorf("%s with %d: %d words, want %d", tc.preset, tc.option, got, tc.want)
		}
	}
}
