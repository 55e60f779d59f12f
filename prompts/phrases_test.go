package prompts_test

import (
	"strings"
	"testing"

	"nightdesk/prompts"
)

func TestRefusesAndIntroduces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{
		"I’m sorry, but I can't help with that.":  {true, false},
		"抱歉，我无法完成。":                               {true, false},
		"Sure! Here is the section:":              {false, true},
		"Here is a fact.":                         {false, false},
		"好的，以下是章节：":                               {false, true},
		"Sure, " + strings.Repeat("x", 200) + ":": {false, false},
	} {
		if got := [2]bool{prompts.Refuses(text), prompts.Introduces(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestFrameOf(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]prompts.FramePart{
		"Introduction": prompts.Introduction, "结论": prompts.Conclusion, "GAPS": prompts.OtherFrame, "Costs": prompts.NoFrame,
	} {
		if got := prompts.FrameOf(heading); got != want {
			t.Errorf("%q: %d, want %d", heading, got, want)
		}
	}
	if !prompts.HeadsSources("Quellen") || prompts.HeadsSources("Costs") {
		t.Error("headings of sources")
	}
}
