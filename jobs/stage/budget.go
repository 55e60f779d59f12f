package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"nightdesk/jobs/forecast"
	"nightdesk/jobs/steady"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

// longestAnswer is the length in tokens of the longest answer if nothing else limits it.
const longestAnswer = 12000

// heldPause is the first pause of a call that waits for other calls of its run, which hold the rest of the budget.
const heldPause = 50 * time.Millisecond

// Budget tracks the remaining money and time of an attempt's run. It reserves the cost of calls and records cuts.
type Budget struct {
	a     *Attempt
	seen  atomic.Value // forecast.Experience of this installation, as of the last look
	bound atomic.Value // string: whose budget allows least, see boundBy
	stay  atomic.Int64 // amount that the attempt's calls must leave for the report
}

// budgeted reports whether the run has a budget and a model that costs something.
func (b *Budget) budgeted() bool { return b.a.Model != nil && b.a.Run.Options.Limit().Amount() > 0 }

// Limited reports whether the run may have to do less because of its budget or its deadline.
func (b *Budget) Limited() bool { return b.budgeted() || !b.a.Run.Options.Deadline.IsZero() }

// price returns the cost of a call of most's model with these numbers of question and answer tokens, in the unit of the
// budget.
func (b *Budget) price(most topicqueue.Usage, question, answer int) (int64, bool) {
	most.PromptTokens, most.CompletionTokens = question, answer
	if cost, known := b.a.Prices.Cost(most); known {
		most.CostUSD = &cost
	}
	return b.a.Run.Options.Limit().Cost(most)
}

// reserve sets aside the possible cost of a call and returns the maximum tokens of its answer; 0 = no additional limit.
// While other calls of the run hold the rest of the budget, it waits for them.
func (b *Budget) reserve(ctx context.Context, place string, most topicqueue.Usage) (limit int, err error) {
	if !b.budgeted() {
		return 0, nil
	}
	longest := most.CompletionTokens
	if longest == 0 {
		longest = longestAnswer
	}
	usual, least := b.experience().Usual(llm.Role(most.Role)), forecast.LeastAnswer
	if b.experience().Unlimited(llm.Role(most.Role)) { // its answers cannot be limited
		longest, least = max(longest, usual), usual
	}
	r := redisqueue.Reservation{Stay: b.stay.Load()}
	known := true
	for _, part := range []struct {
		into             *int64
		question, answer int
	}{{&r.Question, most.PromptTokens, 0}, {&r.Longest, 0, longest}, {&r.Usual, 0, min(longest, usual)},
		{&r.Least, 0, min(longest, least)}} {
		var ok bool
		*part.into, ok = b.price(most, part.question, part.answer)
		known = known && ok
	}
	if !known {
		b.Cut(ctx, b.cutBy(most))
		return 0, fmt.Errorf("%w: no price is known for model %s; set llm.prices, or give the budget in tokens: %w",
			llm.ErrBudget, most.Model, llm.ErrUnavailable)
	}
	var answer int64
	for pause := heldPause; ; pause = min(2*pause, time.Second) {
		err = steady.Do(ctx, "reserve for a call", func(ctx context.Context) (err error) {
			answer, err = b.a.Queue.Reserve(ctx, b.a.Lease, place, r)
			return err
		})
		if !errors.Is(err, redisqueue.ErrBudgetHeld) {
			break
		}
		if err := retry.Sleep(ctx, pause); err != nil {
			return 0, err
		}
	}
	if errors.Is(err, redisqueue.ErrBudget) {
		b.Cut(ctx, b.cutBy(most))
		return 0, fmt.Errorf("%w: %w", llm.ErrBudget, llm.ErrUnavailable)
	}
	if err != nil || answer >= r.Longest || r.Longest == 0 {
		return 0, err
	}
	limit = max(1, int(float64(answer)/float64(r.Longest)*float64(longest)))
	if b.a.stage.Cut == topicqueue.CutReport && limit < usual {
		b.Cut(ctx, b.cutBy(most))
	}
	return limit, nil
}

// cutBy returns the cut to record if the run cannot pay for a call.
func (b *Budget) cutBy(call topicqueue.Usage) string {
	if llm.Role(call.Role) == llm.Judge {
		return topicqueue.CutCheck
	}
	return cmp.Or(b.a.stage.Cut, topicqueue.CutIterations)
}

// NightOf returns the time that determines the night of a run, in the time zone of now.
func NightOf(run topicqueue.Run, now time.Time) time.Time {
	if run.StartedAt.IsZero() {
		return now
	}
	return run.StartedAt.In(now.Location())
}
