package redisqueue_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// pooled is a run that shares a budget, with the test's own accounts.
type pooled struct {
	run            topicqueue.Run
	share, spent   int64
	wants, least   int64
	started, ended bool
}

// TestPool lets runs of all kinds draw on a shared budget, spend and end, in any order and with repeated calls. The sum
// of spent and available amounts never exceeds the budget. Every ended run had at least the minimum, and runs of high
// priority get everything they want while it is available.
func TestPool(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for seed := range uint64(12) {
			random := rand.New(rand.NewPCG(seed, 7))
			ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
			const least = 20
			limit := int64(12 * (least + random.IntN(150)))
			var runs []*pooled
			for i := range 12 {
				run := newRun(fmt.Sprintf("pool %d %d", seed, i), 1)
				run.Batch, run.Lane = fmt.Sprint("pool", seed), []string{"", "low", "high", ""}[i%4]
				run.Options.BatchBudget.Tokens = limit
				runs = append(runs, &pooled{run: run, wants: int64(least + random.IntN(200)), least: least})
				for range 1 + random.IntN(2) {
					if _, err := q.Create(ctx, run); err != nil {
						t.Fatal(err)
					}
				}
			}
			check := func(what string, p *pooled) {
				t.Helper()
				sum := int64(0)
				for _, o := range runs {
					switch {
					case o.ended:
						sum += o.spent
					case o.started:
						sum += o.share
					}
				}
				pool := must[redisqueue.Pool](t)(q.BatchPool(ctx, runs[0].run.Batch))
				if pool.Spent+pool.Granted != sum {
					t.Fatalf("seed %d, %s of %s: the pool has %+v, the runs have %d", seed, what, p.run.ID, pool, sum)
				}
				if sum > limit {
					t.Fatalf("seed %d, %s of %s: %d of %d", seed, what, p.run.ID, sum, limit)
				}
			}
			for open := len(runs); open > 0; {
				p := runs[random.IntN(len(runs))]
				switch {
				case p.ended:
				case random.IntN(4) == 0 && p.started && p.spent >= min(p.share, least):
					p.ended, open = true, open-1
					p.run.Spent, p.run.StartedAt = p.spent, created
					for range 1 + random.IntN(2) {
						if err := q.LeaveBudgets(ctx, p.run, created); err != nil {
							t.Fatal(err)
						}
					}
					if p.spent < least {
						t.Errorf("seed %d: run %s of %q ended with %d, the least is %d of %d", seed, p.run.ID, p.run.Lane, p.spent, least, limit)
					}
					check("leave", p)
				default:
					claim := redisqueue.Claim{Limit: limit, Spent: p.spent, Wants: max(p.spent, p.wants), Needs: max(p.spent, least), Least: least}
					for range 1 + random.IntN(2) {
						p.share = must[int64](t)(q.DrawBatch(ctx, p.run, claim))
					}
					p.started = true
					check("draw", p)
					p.spent += random.Int64N(max(1, p.share-p.spent+1))
				}
			}
			if pool := must[redisqueue.Pool](t)(q.BatchPool(ctx, runs[0].run.Batch)); pool.Granted != 0 || pool.Waiting != 0 || pool.HasEnded != len(runs) {
				t.Errorf("seed %d: in the end the pool has %+v", seed, pool)
			}
		}
	})
}

// TestLateRunWaitsForItsShare: a run that arrives when everything has been given out begins once others have returned
// its share, but not earlier.
func TestLateRunWaitsForItsShare(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		for _, lane := range []string{"", "high"} {
			early, late := newRun("early"+lane, 1), newRun("late"+lane, 1)
			for _, run := range []*topicqueue.Run{&early, &late} {
				run.Batch = "pool" + lane
				run.Options.BatchBudget.Tokens, run.Options.NightBudget.Tokens = 1000, 5000
			}
			late.Lane = lane
			claim := redisqueue.Claim{Limit: 1000, Wants: 1000, Needs: 100, Least: 100}
			if !must[bool](t)(q.MayBegin(ctx, early, created, claim)) {
				t.Error("the first run waits")
			}
			if share := must[int64](t)(q.DrawBatch(ctx, early, claim)); share != 1000 {
				t.Errorf("the first run has %d", share)
			}
			if _, err := q.Create(ctx, late); err != nil { // which joins the pool
				t.Fatal(err)
			}
			claim.Wants = 400
			if must[bool](t)(q.MayBegin(ctx, late, created, claim)) {
				t.Error("the late run does not wait")
			}
			early.Spent = 50
			first := redisqueue.Claim{Limit: 1000, Spent: 50, Wants: 1000, Needs: 100, Least: 100}
			if share := must[int64](t)(q.DrawBatch(ctx, early, first)); share > 900 {
				t.Errorf("the first run has %d, and another waits", share)
			}
			if lane == "high" { // it wants more than its least, which is given back when the first one ends
				if must[bool](t)(q.MayBegin(ctx, late, created, claim)) != (must[redisqueue.Pool](t)(q.BatchPool(ctx, late.Batch)).Granted <= 600) {
					t.Error("what a run of high priority wants is not what it waits for")
				}
				if err := q.LeaveBudgets(ctx, early, created); err != nil {
					t.Fatal(err)
				}
			}
			if !must[bool](t)(q.MayBegin(ctx, late, created, claim)) {
				t.Error("the late run waits for ever")
			}
			if share := must[int64](t)(q.DrawBatch(ctx, late, claim)); share < 100 || lane == "high" && share != 400 {
				t.Errorf("the late run has %d", share)
			}
		}
	})
}

// TestHighKeepsItsShare: the share of a high-priority run stays its own when others arrive. Other runs give way.
func TestHighKeepsItsShare(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		claim := redisqueue.Claim{Limit: 1200, Wants: 120, Needs: 20, Least: 20}
		create := func(topic, lane string) topicqueue.Run {
			run := newRun(topic, 1)
			run.Batch, run.Lane, run.Options.BatchBudget.Tokens = "grows", lane, claim.Limit
			if _, err := q.Create(ctx, run); err != nil {
				t.Fatal(err)
			}
			return run
		}
		var normal []topicqueue.Run
		for i := range 9 {
			normal = append(normal, create(fmt.Sprint("normal ", i), ""))
		}
		high := create("high", "high")
		for _, run := range append(normal, high) {
			if share := must[int64](t)(q.DrawBatch(ctx, run, claim)); share != claim.Wants {
				t.Errorf("%s has %d", run.Topic, share)
			}
		}
		for i := range 40 {
			create(fmt.Sprint("later ", i), "")
		}
		for _, run := range append([]topicqueue.Run{high}, normal...) {
			if share := must[int64](t)(q.DrawBatch(ctx, run, claim)); (share == claim.Wants) != (run.Lane == "high") {
				t.Errorf("others have come: %s has %d", run.Topic, share)
			}
		}
	})
}
