package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

// Tokens of answers, see redisqueue.Reservation.
const (
	usualAnswer   = 2000  // upper bound for most answers, without experience
	aboveAverage  = 3     // upper bound for most answers, as a multiple of the average of their role
	leastAnswer   = 256   // a call with a smaller limit is hardly worth making
	longestAnswer = 12000 // if nothing else limits the answer
)

// heldPause is the first pause of a call that waits for other calls of its run, which hold the rest of the budget.
const heldPause = 50 * time.Millisecond

// budget tracks the remaining money and time of an attempt's run. It reserves the cost of calls and records cuts.
type budget struct {
	a       *attempt
	model   llm.Model // nil: no costs
	prices  llm.Prices
	figures *figures
	now     func() time.Time
	log     zerolog.Logger
	seen    atomic.Value // Experience of this installation, as of the last look
	bound   atomic.Value // string: whose budget allows least, see boundBy
	stay    atomic.Int64 // amount that the attempt's calls must leave for the report
}

// budgeted reports whether the run has a budget and a model that costs something.
func (b *budget) budgeted() bool { return b.model != nil && b.a.Run.Options.Limit().Amount() > 0 }

// price returns the cost of a call of most's model with these numbers of question and answer tokens, in the unit of the
// budget.
func (b *budget) price(most topicqueue.Usage, question, answer int) (int64, bool) {
	most.PromptTokens, most.CompletionTokens = question, answer
	if cost, known := b.prices.Cost(most); known {
		most.CostUSD = &cost
	}
	return b.a.Run.Options.Limit().Cost(most)
}

// reserve sets aside the possible cost of a call and returns the maximum tokens of its answer; 0 = no additional limit.
// While other calls of the run hold the rest of the budget, it waits for them.
func (b *budget) reserve(ctx context.Context, place string, most topicqueue.Usage) (limit int, err error) {
	if !b.budgeted() {
		return 0, nil
	}
	longest := most.CompletionTokens
	if longest == 0 {
		longest = longestAnswer
	}
	usual, least := b.experience().usual(llm.Role(most.Role)), leastAnswer
	if b.experience()[llm.Role(most.Role)].longest > 0 { // its answers cannot be limited
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
		b.cut(ctx, b.cutBy(most))
		return 0, fmt.Errorf("%w: no price is known for model %s; set llm.prices, or give the budget in tokens: %w",
			llm.ErrBudget, most.Model, llm.ErrUnavailable)
	}
	var answer int64
	for pause := heldPause; ; pause = min(2*pause, time.Second) {
		err = steady(ctx, "reserve for a call", func(ctx context.Context) (err error) {
			answer, err = b.a.queue.Reserve(ctx, b.a.Lease, place, r)
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
		b.cut(ctx, b.cutBy(most))
		return 0, fmt.Errorf("%w: %w", llm.ErrBudget, llm.ErrUnavailable)
	}
	if err != nil || answer >= r.Longest || r.Longest == 0 {
		return 0, err
	}
	limit = max(1, int(float64(answer)/float64(r.Longest)*float64(longest)))
	if b.a.Lease.Unit == redisqueue.UnitReport && limit < usual {
		b.cut(ctx, b.cutBy(most))
	}
	return limit, nil
}

// cutBy returns the cut to record if the run cannot pay for a call.
func (b *budget) cutBy(call topicqueue.Usage) string {
	switch {
	case llm.Role(call.Role) == llm.Judge:
		return topicqueue.CutCheck
	case b.a.Lease.Unit == redisqueue.UnitReport:
		return topicqueue.CutReport
	case b.a.Lease.Unit == redisqueue.UnitNarrate:
		return topicqueue.CutAudio
	}
	return topicqueue.CutIterations
}

// nightOf returns the time that determines the night of a run, in the time zone of now.
func nightOf(run topicqueue.Run, now time.Time) time.Time {
	if run.StartedAt.IsZero() {
		return now
	}
	return run.StartedAt.In(now.Location())
}
