package text_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/text"
)

func TestAround(t *testing.T) {
	t.Parallel()
	const page = "The plant opened in 1990. It has four pumps. Two of them run. The others wait for floods. Nobody lives there."
	for name, tt := range map[string]struct {
		quote         string
		n             int
		before, after string
	}{
		"whole sentences": {"Two of them run.", 40, "It has four pumps.", "The others wait for floods."},
		"all that is there": {
			"Two of them run.", 500, "The plant opened in 1990. It has four pumps.", "The others wait for floods. Nobody lives there.",
		},
		"less than a sentence": {"Two of them run.", 12, "… pumps.", "The others …"},
		"at the ends":          {page, 40, "", ""},
	} {
		start := strings.Index(page, tt.quote)
		before, after := text.Around(page, start, start+len(tt.quote), tt.n)
		if before != tt.before || after != tt.after {
			t.Errorf("%s: %q and %q, want %q and %q", name, before, after, tt.before, tt.after)
		}
	}
	if before, after := text.Around(page, 5, 4000, 10); before+after != "" {
		t.Errorf("of a place that is not there: %q and %q", before, after)
	}
}
