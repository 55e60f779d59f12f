package redisqueue

import (
	"context"
	"errors"
	"strconv"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Errors of Reserve.
var (
	// ErrBudget means that the budget of the run does not cover the call.
	ErrBudget = errors.New("the budget does not suffice")
	// ErrBudgetHeld means that the budget may cover the call when calls of the run in flight have ended, because most
	// cost less than they reserve.
	ErrBudgetHeld = errors.New("the budget is reserved for other calls")
)

// Reservation is the amount that a model call may take from the budget of its run, in the unit of the budget.
type Reservation struct {
	Question int64
	Longest  int64 // maximum cost of the answer
	Usual    int64 // upper bound for most answers; near the end of the budget no more is reserved
	Least    int64 // minimum for the answer; less is hardly worth the call
	Stay     int64 // amount to leave for others
}

// Reserve reserves the cost of a model call until Answered, or until the attempt or the run ends. It returns the
// amount available for the answer. Repeating it at the same place changes the amount. A run without a budget refuses
// nothing.
func (q *attempts) Reserve(ctx context.Context, l Lease, place string, r Reservation) (answer int64, err error) {
	reply, err := q.run(ctx, reserveScript, "reserve for a call", l.RunID, l.Unit, l.Generation, l.owner, place,
		r.Question, r.Longest, r.Usual, r.Least, r.Stay)
	if err != nil {
		return 0, err
	}
	switch answer = amount(lua.Text(reply.values, 0)); answer {
	case -1:
		return 0, ErrBudget
	case -2:
		return 0, ErrBudgetHeld
	}
	return answer, nil
}

// Purse returns the budget state of a run. share is the run's total share of a common budget, besides its own limit;
// 0: unchanged. cut is a value of Run.Cuts to add; empty: none.
func (q *attempts) Purse(ctx context.Context, runID string, share int64, cut string) (topicqueue.Purse, error) {
	limit := ""
	if share > 0 {
		limit = strconv.FormatInt(share, 10)
	}
	r, err := q.run(ctx, purseScript, "read the budget", runID, limit, cut)
	if err != nil {
		return topicqueue.Purse{}, err
	}
	p := topicqueue.Purse{Limit: amount(lua.Text(r.values, 0)), Spent: amount(lua.Text(r.values, 1)),
		Evidence: lua.Number(r.values, 2)}
	list, _ := r.values[3].([]any)
	for i := 0; i+3 < len(list); i += 4 {
		p.Blocks = append(p.Blocks, topicqueue.BlockPurse{
			Begun: lua.Number(list, i) > 0, Ended: lua.Number(list, i) == 2, Iterations: lua.Number(list, i+1),
			Spent: amount(lua.Text(list, i+2)), UnderWay: lua.Number(list, i+3) > 0,
		})
	}
	return p, nil
}

func amount(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
