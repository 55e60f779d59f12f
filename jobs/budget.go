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
	usualAnswer   = 2000  // most are shorter, as long as there is no experience
	aboveAverage  = 3     // times the average of their role, most are shorter
	leastAnswer   = 256   // one that may have less is hardly worth the call
	longestAnswer = 12000 // where nothing limits it
)

// heldPause is how long a call waits for others of its run that hold what is left of the budget, at first.
const heldPause = 50 * time.Millisecond

// budget is what the run of an attempt may spend, and the time that it has. It says what is left, reserves for calls
// and notes what has to be cut.
type budget struct {
	a       *attempt
	model   llm.Model // nil: nothing costs
	prices  llm.Prices
	figures *figures
	now     func() time.Time
	log     zerolog.Logger
	seen    atomic.Value // Experience of the desk, as of the last look
	bound   atomic.Value // string: whose budget allows least, see boundBy
	stay    atomic.Int64 // that the calls of the attempt must leave for the report
}

// budgeted reports whether the run has a budget, and something that costs.
func (b *budget) budgeted() bool { return b.model != nil && b.a.Run.Options.Limit().Amount() > 0 }

// price returns what a call of most's model costs the budget with so many tokens of question and answer.
func (b *budget) price(most topicqueue.Usage, question, answer int) (int64, bool) {
	most.PromptTokens, most.CompletionTokens = question, answer
	if cost, known := b.prices.Cost(most); known {
		most.CostUSD = &cost
	}
	return b.a.Run.Options.Limit().Cost(most)
}

// reserve sets aside what a call may cost and returns how many tokens its answer may have; 0: as many as it may anyway.
// Where others of the run hold what is left it waits for them.
func (b *budget) reserve(ctx context.Context, place string, most topicqueue.Usage) (limit int, err error) {
	if !b.budgeted() {
		return 0, nil
	}
	longest := most.CompletionTokens
	if longest == 0 {
		longest = longestAnswer
	}
	usual, least := b.experience().usual(llm.Role(most.Role)), leastAnswer
	if b.experience()[llm.Role(most.Role)].longest > 0 { // its answers cannot be made shorter
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
		return 0, fmt.Errorf("%w: no price is known for model %s: set llm.prices, or give the budget in tokens: %w",
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

// cutBy says what a run does without when a call cannot be paid.
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

// nightOf is the time whose night a run belongs to, in the time zone of now.
func nightOf(run topicqueue.Run, now time.Time) time.Time {
	if run.StartedAt.IsZero() {
		return now
	}
	return run.StartedAt.In(now.Location())
}
