package redisqueue_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestPoorBudget: if a budget does not suffice for all runs, the first ones get the minimum. Others wait for what these
// return, but do not wait if nothing is held.
func TestPoorBudget(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		for _, tt := range []struct {
			limit         int64
			shares, waits int // runs that get what one needs, and that wait first
		}{{1, 0, 0}, {150, 2, 2}, {300, 4, 1}, {390, 4, 1}, {400, 4, 0}} {
			claim := redisqueue.Claim{Limit: tt.limit, Wants: 300, Needs: 100, Least: 100}
			batch := fmt.Sprint("poor ", tt.limit)
			var runs, active []topicqueue.Run
			for i := range 4 {
				run := newRun(fmt.Sprintf("poor %d %d", tt.limit, i), 1)
				run.Batch, run.Options.BatchBudget.Tokens = batch, tt.limit
				if _, err := q.Create(ctx, run); err != nil {
					t.Fatal(err)
				}
				runs = append(runs, run)
			}
			shares, waits := 0, 0
			for _, run := range runs {
				waited := false
				for !must[bool](t)(q.MayBegin(ctx, run, created, claim)) {
					waited = true
					if len(active) == 0 {
						t.Fatalf("of %d %s waits for nobody: %+v", tt.limit, run.Topic, must[redisqueue.Pool](t)(q.BatchPool(ctx, batch)))
					}
					active[0].Spent = 50
					if err := q.LeaveBudgets(ctx, active[0], created); err != nil {
						t.Fatal(err)
					}
					active = active[1:]
				}
				if waited {
					waits++
				}
				if must[int64](t)(q.DrawBatch(ctx, run, claim)) >= claim.Least {
					shares++
				}
				active = append(active, run)
			}
			if shares != tt.shares || waits != tt.waits {
				t.Errorf("of %d %d runs have what one needs, %d have waited; want %d, %d", tt.limit, shares, waits, tt.shares, tt.waits)
			}
		}
	})
}

// TestRunsThatComeLateWaitTogether: late runs wait for their shares together for some minutes, not one after the other.
// Their data in Redis expires with the night.
func TestRunsThatComeLateWaitTogether(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		claim := redisqueue.Claim{Limit: 1000, Wants: 1000, Needs: 1000, Least: 100}
		night := func(topic string) topicqueue.Run {
			run := newRun(topic, 1)
			run.Options.NightBudget.Tokens = 1000
			return run
		}
		must[int64](t)(q.DrawNight(ctx, night("early"), created, claim))
		may := func(topic string) bool { return must[bool](t)(q.MayBegin(ctx, night(topic), created, claim)) }
		for _, topic := range []string{"late", "late", "later"} {
			if may(topic) {
				t.Errorf("%s: it does not wait", topic)
			}
		}
		pool := "nightdesk:{index}:night:" + redisqueue.Night(created)
		passed := 6 * time.Minute
		for field, value := range rdb.HGetAll(ctx, pool).Val() {
			if at, err := strconv.ParseInt(value, 10, 64); err == nil && at > passed.Milliseconds() { // when somebody began to wait
				rdb.HSet(ctx, pool, field, at-passed.Milliseconds())
			}
		}
		if !may("latest") {
			t.Error("one that comes when others have waited long enough waits anew")
		}
		if left := rdb.TTL(ctx, pool).Val(); left <= 0 {
			t.Errorf("the accounts of the night are kept for %s", left)
		}
	})
}

// TestHeldRunsGiveTheirPlace: runs that wait for their shares of a budget keep no others from being planned, and
// there are never more than four times the tasks that there shall be.
func TestHeldRunsGiveTheirPlace(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		claim := redisqueue.Claim{Limit: 1000, Wants: 1000, Needs: 1000, Least: 100}
		early := newRun("early", 1)
		early.Options.BatchBudget.Tokens = 1000
		must[int64](t)(q.DrawBatch(ctx, early, claim))
		runs := map[string]topicqueue.Run{}
		for i := range 14 {
			run := newRun(fmt.Sprint("late ", i), 1)
			run.CreatedAt = created.Add(time.Duration(i) * time.Second)
			if i != 5 {
				run.Options.BatchBudget.Tokens = 1000
			}
			runs[run.ID] = run
			if _, err := q.Create(ctx, run); err != nil {
				t.Fatal(err)
			}
		}
		free, fed := 0, 0
		for range 10 {
			for _, id := range must[[]string](t)(q.Feed(ctx, "", 2, 0)) {
				fed++
				if run := runs[id]; must[bool](t)(q.MayBegin(ctx, run, created, claim)) {
					free++
				}
			}
		}
		if free != 1 || fed != 8 {
			t.Errorf("%d tasks were given out, %d to the run that waits for nothing", fed, free)
		}
	})
}

// TestPoorBudgetServesHighFirst: of a budget that does not bring all runs to their ends one of high priority has all
// that it wants at every draw, whether it comes with the others or after them; the others have what it leaves.
func TestPoorBudgetServesHighFirst(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		claim := redisqueue.Claim{Limit: 500, Wants: 300, Needs: 100, Least: 100}
		create := func(batch, topic, lane string) topicqueue.Run {
			run := newRun(batch+topic, 1)
			run.Batch, run.Lane, run.Options.BatchBudget.Tokens = batch, lane, claim.Limit
			must[bool](t)(q.Create(ctx, run))
			return run
		}
		share := func(run topicqueue.Run, spent, wants int64) int64 {
			c := claim
			c.Spent, c.Wants, c.Needs = spent, wants, max(spent, c.Needs)
			return must[int64](t)(q.DrawBatch(ctx, run, c))
		}
		var normal []topicqueue.Run
		for i := range 11 {
			normal = append(normal, create("together", fmt.Sprint("normal ", i), ""))
		}
		high := create("together", "high", "high")
		before := claim
		before.High = 450 // leaves less than the least
		if must[bool](t)(q.MayBegin(ctx, normal[0], created, before)) {
			t.Error("a normal one begins with what the high one will want")
		}
		if !must[bool](t)(q.MayBegin(ctx, high, created, claim)) {
			t.Error("it waits, and nobody holds anything")
		}
		for _, draw := range []struct{ spent, wants int64 }{{0, 300}, {50, 300}, {200, 350}} {
			if got := share(high, draw.spent, draw.wants); got != draw.wants {
				t.Errorf("with %d spent it has %d, want %d", draw.spent, got, draw.wants)
			}
			if got := share(normal[0], 0, 300); got < 100 || got > 150 {
				t.Errorf("a normal one has %d of what is left", got)
			}
		}

		normal = nil
		for i := range 5 {
			normal = append(normal, create("late", fmt.Sprint("normal ", i), ""))
		}
		for _, run := range normal {
			if !must[bool](t)(q.MayBegin(ctx, run, created, claim)) {
				t.Fatalf("%s waits", run.Topic)
			}
		}
		late := create("late", "high", "high")
		for i := range 2 { // each gives back the half of its share
			if must[bool](t)(q.MayBegin(ctx, late, created, claim)) {
				t.Fatalf("when %d have ended, it begins with %d", i, share(late, 0, 300))
			}
			normal[i].Spent = 50
			if err := q.LeaveBudgets(ctx, normal[i], created); err != nil {
				t.Fatal(err)
			}
		}
		if !must[bool](t)(q.MayBegin(ctx, late, created, claim)) {
			t.Error("it waits for more than it needs")
		}
		if got := share(late, 0, 300); got != 100 {
			t.Errorf("late, it has %d", got)
		}
	})
}
