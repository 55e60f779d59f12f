package topicqueue_test

import (
	"strings"
	"testing"

	"nightdesk/topicqueue"
)

// TestHeadOf: the head has the first lines, whatever they are, up to 200 bytes.
func TestHeadOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The measurement was repeated. ", 20)
	for text, want := range map[string]string{
		"# Report\n\nFacilities Department, Lindenmark Hospital (420 beds). 12 January 2026.\n\nThe load is 1.4 MW.": "# Report · Facilities Department, " +
			"Lindenmark Hospital (420 beds). 12 January 2026. · The load is 1.4 MW.",
		"---\n\n": "",
	} {
		if got := topicqueue.HeadOf(text); got != want {
			t.Errorf("%q has the head %q, want %q", text, got, want)
		}
	}
	if got := topicqueue.HeadOf(long); len(got) > 200 || len(got) < 190 || !strings.HasPrefix(got, "The measurement") {
		t.Errorf("the head of a long text is %q", got)
	}
}

// TestHeadAt: only the known beginning of a document is called the beginning.
func TestHeadAt(t *testing.T) {
	t.Parallel()
	const page = "```\nReport of 2023\n```\nThe tide was high."
	for name, tt := range map[string]struct {
		source topicqueue.Source
		at     int
		want   string
	}{
		"the beginning itself":    {topicqueue.Source{Text: page}, 0, ""},
		"further down a page":     {topicqueue.Source{Text: page}, 20, "Report of 2023 · The tide was high."},
		"a passage from within":   {topicqueue.Source{Text: page, Offset: 900}, 20, ""},
		"a passage and its start": {topicqueue.Source{Text: page, Offset: 900, Head: "Tides"}, 20, "Tides"},
	} {
		if got := tt.source.HeadAt(tt.at); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestSourceName(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]topicqueue.Source{
		"Changelog, queue/CHANGES.md":       {Title: "Changelog", Document: "queue/CHANGES.md"},
		"Prices, https://harbour.example/p": {Title: "Prices", URL: "https://harbour.example/p", Document: "p.md"},
		"notes.txt":                         {Document: "notes.txt"},
		"Mean of 3 tides":                   {Kind: topicqueue.SourceCode, Title: "Mean of 3 tides", Document: "code/1.txt"},
		"":                                  {},
	} {
		if got := s.Name(); got != want {
			t.Errorf("%+v is called %q, want %q", s, got, want)
		}
	}
}
