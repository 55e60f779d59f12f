package redisqueue

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Claim is a run's request to a budget that it shares with others. Amounts are in the budget's unit.
type Claim struct {
	Limit int64 // of the common budget
	Spent int64 // by the run
	Wants int64 // total for everything that it may do
	Needs int64 // total to finish the run
	Least int64 // minimum to leave for each waiting run
	Spare int64 // desired extra, if all others get their wanted amounts
	High  int64 // total that it would want with high priority; 0: Wants
}

// kindOf returns the kind of a run in a common budget by its lane. High runs get all that they want. Of the rest,
// normal runs get twice as much as low ones.
func kindOf(lane string) string {
	if lane == "high" || lane == "low" {
		return lane
	}
	return "normal"
}

func batchPool(batch string) string { return batchKey(batch, "budget") }

// Night returns the date on which the night of a time began. A night lasts from noon to noon, in the time zone of at.
func Night(at time.Time) string { return at.Add(-12 * time.Hour).Format(time.DateOnly) }

func nightPool(at time.Time) string { return lua.Prefix + "{index}:night:" + Night(at) }

// nightKept is how long the accounts of a night are kept.
const nightKept = 8 * 24 * time.Hour

// budgets keeps the budgets of batches and nights, from which runs draw their shares.
type budgets struct{ base }

// join registers a run as waiting for its share of its batch's budget.
func (q *budgets) join(ctx context.Context, run topicqueue.Run) error {
	if run.Options.BatchBudget.Amount() == 0 {
		return nil
	}
	return redisError(poolScript.Run(ctx, q.rdb, []string{batchPool(run.Batch)}, "join", run.ID, kindOf(run.Lane)).Err(),
		"add run %s to the budget of batch %q", run.ID, run.Batch)
}

// DrawBatch returns the run's total spending limit from its share of the batch's budget. The budget is divided again
// on every call, so unused amounts of other runs become available.
func (q *budgets) DrawBatch(ctx context.Context, run topicqueue.Run, c Claim) (int64, error) {
	share, err := q.draw(ctx, "draw", batchPool(run.Batch), run, c, "", "", "")
	return max(1, share), err
}

// heldAtMost is how long a run waits before planning for the part of its share that others hold.
const heldAtMost = 5 * time.Minute

// MayBegin reports whether a run that has not begun gets its shares of the batch and night budgets; if so, it has
// them. It does not if other runs received more than their shares before it arrived, or hold the minimum it needs.
// They return it when they draw again, or when they end. Meanwhile Feed gives its place to others. After heldAtMost
// the run may begin anyway. c.Limit is not used.
func (q *budgets) MayBegin(ctx context.Context, run topicqueue.Run, at time.Time, c Claim) (bool, error) {
	ok, err := q.hasShare(ctx, run, at, c)
	if err != nil || ok {
		return ok, err
	}
	return false, redisError(q.rdb.ZAddXX(ctx, fedKey(run.Lane), redis.Z{Member: run.ID, Score: math.Inf(1)}).Err(),
		"hold run %s", run.ID)
}

func (q *budgets) hasShare(ctx context.Context, run topicqueue.Run, at time.Time, c Claim) (bool, error) {
	if c.Limit = run.Options.BatchBudget.Amount(); c.Limit > 0 {
		if ok, err := q.draw(ctx, "ask", batchPool(run.Batch), run, c, "", "", ""); err != nil || ok == 0 {
			return false, err
		}
	}
	if c.Limit = run.Options.NightBudget.Amount(); c.Limit > 0 {
		if ok, err := q.drawNight(ctx, "ask", run, at, c); err != nil || ok == 0 {
			return false, err
		}
	}
	return true, nil
}

// DrawNight is like DrawBatch, but for the budget of the night in which the run started.
func (q *budgets) DrawNight(ctx context.Context, run topicqueue.Run, at time.Time, c Claim) (int64, error) {
	share, err := q.drawNight(ctx, "draw", run, at, c)
	return max(1, share), err
}

// drawNight draws on, or asks, the accounts of a night and extends their lifetime.
func (q *budgets) drawNight(ctx context.Context, what string, run topicqueue.Run, at time.Time,
	c Claim) (int64, error) {
	waiting, err := q.waiting(ctx)
	if err != nil {
		return 0, err
	}
	share, err := q.draw(ctx, what, nightPool(at), run, c, waiting[0], waiting[1], waiting[2])
	if err != nil {
		return 0, err
	}
	return share, q.rdb.Expire(ctx, nightPool(at), nightKept).Err()
}

// waiting returns the number of high, normal and low priority runs whose planning has not begun.
func (q *budgets) waiting(ctx context.Context) (n [3]int64, err error) {
	var counts [2][3]*redis.IntCmd
	if _, err := q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, lane := range []string{"high", "", "low"} {
			counts[0][i], counts[1][i] = p.ZCard(ctx, waitingKey(lane)), p.ZCard(ctx, fedKey(lane))
		}
		return nil
	}); err != nil {
		return n, redisError(err, "count the runs that wait")
	}
	for i := range n {
		n[i] = counts[0][i].Val() + counts[1][i].Val()
	}
	return n, nil
}

func (q *budgets) draw(ctx context.Context, what, pool string, run topicqueue.Run, c Claim,
	high, normal, low any) (int64, error) {
	share, err := poolScript.Run(ctx, q.rdb, []string{pool}, what, run.ID, kindOf(run.Lane), c.Spent, c.Wants, c.Needs,
		c.Limit, c.Least, high, normal, low, c.Spare, heldAtMost.Milliseconds(), c.High).Text()
	return amount(share), redisError(err, "draw run %s's share of a common budget", run.ID)
}

// LeaveBudgets returns the unspent share of a run that has ended to the budgets of its batch and its night.
func (q *budgets) LeaveBudgets(ctx context.Context, run topicqueue.Run, at time.Time) error {
	var pools []string
	if run.Options.BatchBudget.Amount() > 0 {
		pools = append(pools, batchPool(run.Batch))
	}
	if run.Options.NightBudget.Amount() > 0 {
		pools = append(pools, nightPool(at))
	}
	for _, pool := range pools {
		if err := poolScript.Run(ctx, q.rdb, []string{pool}, "leave", run.ID, run.Spent).Err(); err != nil {
			return redisError(err, "give back run %s's share of a common budget", run.ID)
		}
	}
	return nil
}

// Pool is the state of the budget of a batch or a night.
type Pool struct {
	Spent    int64 // by runs that have ended
	Granted  int64 // granted to runs in work, including their spending
	Waiting  int   // number of waiting runs; for a night, all waiting runs in this Redis
	Active   int
	HasEnded int
}

// BatchPool returns the state of the budget of a batch; the zero value if it has none.
func (q *budgets) BatchPool(ctx context.Context, batch string) (Pool, error) {
	return q.pool(ctx, batchPool(batch), fmt.Sprintf("the budget of batch %q", batch))
}

// NightPool is like BatchPool, but for the budget of the night of a time.
func (q *budgets) NightPool(ctx context.Context, at time.Time) (Pool, error) {
	p, err := q.pool(ctx, nightPool(at), "the budget of the night")
	if err != nil {
		return p, err
	}
	waiting, err := q.waiting(ctx)
	p.Waiting = int(waiting[0] + waiting[1] + waiting[2])
	return p, err
}

func (q *budgets) pool(ctx context.Context, key, name string) (p Pool, err error) {
	var fields []string
	for _, kind := range []string{"high", "normal", "low"} {
		for _, f := range []string{"sum:%s:done", "sum:%s:active", "n:%s:waiting", "n:%s:active", "n:%s:done"} {
			fields = append(fields, fmt.Sprintf(f, kind))
		}
	}
	values, err := q.rdb.HMGet(ctx, key, fields...).Result()
	if err != nil {
		return p, redisError(err, "read %s", name)
	}
	for i := 0; i < len(values); i += 5 {
		p.Spent += amount(lua.Text(values, i))
		p.Granted += amount(lua.Text(values, i+1))
		p.Waiting += lua.Number(values, i+2)
		p.Active += lua.Number(values, i+3)
		p.HasEnded += lua.Number(values, i+4)
	}
	return p, nil
}
