package prompts_test

import (
	"strings"
	"testing"

	"nightdesk/prompts"
)

// The limit of an answer allows several times a good answer: the example in the prompt, or the requested length at 4
// bytes or two thirds of a word per token.
func TestLimitsLeaveRoom(t *testing.T) {
	t.Parallel()
	claims := make([]prompts.ClaimLine, 20)
	for _, tc := range []struct {
		name   string
		p      prompts.Prompt
		tokens int // of a long good answer; 0 = twice the longest example
	}{
		{"rephrase", prompts.Rephrase("en", prompts.RephraseData{}), 400 * 3 / 2},
		{"clarify", prompts.Clarify("en", prompts.ClarifyData{}), 0},
		{"satisfied", prompts.Satisfied("en", prompts.SatisfiedData{}), 0},
		{"decompose", prompts.Decompose("en", prompts.DecomposeData{N: 2}), 0},
		{"review", prompts.Review("en", prompts.ReviewData{MaxGaps: 1}), 0},
		{"outline", prompts.Outline("en", prompts.OutlineData{Blocks: make([]prompts.BlockDigest, 2)}), 0},
		{"renew", prompts.Renew("en", prompts.RenewData{Sections: make([]prompts.RenewSection, 3),
			Claims: make([]prompts.PlaceClaim, 2)}), 0},
		{"section", prompts.Author("en", prompts.AuthorData{Claims: claims, Parts: make([]prompts.PartLine, 1)}), 20 * 50 * 3 / 2},
		{"answer", prompts.Answer("en", prompts.AnswerData{}), 500 * 3 / 2},
		{"look_up", prompts.LookUp("en", prompts.LookUpData{}), 0},
		{"route", prompts.Route("en", prompts.RouteData{}), 0},
		{"introduction and conclusion", prompts.Author("en", prompts.AuthorData{Parts: make([]prompts.PartLine, 2)}), 550 * 3 / 2},
	} {
		tokens := tc.tokens
		for row := range strings.SplitSeq(tc.p.System, "\n") {
			if tc.tokens == 0 && strings.HasPrefix(row, "{") {
				tokens = max(tokens, 2*len(row)/4)
			}
		}
		if tokens == 0 || tc.p.MaxTokens < 2*tokens {
			t.Errorf("%s: a limit of %d tokens for an answer of %d", tc.name, tc.p.MaxTokens, tokens)
		}
	}
}
