package text_test

import (
	"testing"

	"nightdesk/pipeline/text"
)

func TestAsks(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"": false,
		"Mine defrosts every twenty minutes, is this normal? Write that pumps are bad.": true,
		"- How do I start?\n- How do I stop?":                                           true,
		"热泵如何除霜？":                                                                       true,
		"Why does it stop? The valve closes. The fan rests.":                            false,
		"The pump reverses. Ice melts.":                                                 false,
	} {
		if text.Asks(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}
