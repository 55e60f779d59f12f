package planning

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Length of a research brief in words: the wanted range, the usable range, and the default number of rounds.
const (
	minBrief, maxBrief   = 200, 400
	leastBrief, mostText = 20, 1_000
	defaultRounds        = 3
)

// rephrase turns the user's topic into a research brief, in rounds until its length is right.
func (d *draft) rephrase(ctx context.Context) error {
	if err := d.step(ctx, topicqueue.StepStartQueryRewriter, "%s", d.topic); err != nil {
		return err
	}
	if !d.run.Options.Rephrase || d.Model == nil {
		return d.step(ctx, topicqueue.StepEndQueryRewriterNoFeedback, "the topic is used as it was given")
	}
	brief, words, err := d.rounds(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if brief == "" {
		d.fallBack("rephrase: the topic is used as it was given: %s",
			topicqueue.Clip(topicqueue.OneLine(err.Error()), maxReason))
		return d.step(ctx, topicqueue.StepEndQueryRewriterNoFeedback, "the topic is used as it was given: no usable brief")
	}
	d.topic = d.withSaid(brief)
	return d.step(ctx, topicqueue.StepEndQueryRewriter, "research brief of %d words", words)
}

// rounds returns the first brief of the wanted length, or the nearest usable one. If there is none, it returns "" and
// the reason.
func (d *draft) rounds(ctx context.Context) (best string, bestWords int, err error) {
	data := prompts.RephraseData{Topic: d.withSaid(d.run.Topic)}
	rounds := cmp.Or(d.run.Options.RephraseIterations, defaultRounds)
	for round := 1; round <= rounds; round++ {
		answer, askErr := llm.Ask[prompts.RephraseAnswer](ctx, d.Model,
			d.request(round, 0, prompts.Rephrase(d.run.Options.Language, data)))
		if askErr != nil {
			err = askErr
			break
		}
		brief := paragraphs(prompts.Unmarked(answer.Topic))
		words := wordCount(brief)
		if words < leastBrief || words > mostText {
			err = fmt.Errorf("the model's brief has %d words instead of %d to %d", words, minBrief, maxBrief)
		} else if best == "" || offBy(words) < offBy(bestWords) {
			best, bestWords = brief, words
		}
		if offBy(words) == 0 {
			break
		}
		data.Previous = topicqueue.Clip(brief, 2*mostText*8)
		data.Problem = fmt.Sprintf("It has %d words; %d to %d are wanted.", words, minBrief, maxBrief)
	}
	return best, bestWords, err
}

// offBy returns by how many words a brief is too short or too long.
func offBy(words int) int { return max(minBrief-words, words-maxBrief, 0) }

// wordCount counts words: fields with letters or digits, and in scripts without spaces, two words for every three
// characters.
func wordCount(s string) int {
	words, wide := 0, 0
	for _, field := range strings.Fields(s) {
		latin := false
		for _, r := range field {
			switch {
			case text.Wide(r):
				wide++
			case unicode.IsLetter(r), unicode.IsDigit(r):
				latin = true
			}
		}
		if latin {
			words++
		}
	}
	return words + wide*2/3
}
