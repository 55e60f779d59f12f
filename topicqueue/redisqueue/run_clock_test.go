package redisqueue_test

import (
	"testing"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// clocked is one run on a Redis with a clock controlled by the test. It has ten minutes, two of them for writing.
type clocked struct {
	*testing.T
	v     *virtual
	q     *redisqueue.Queue
	run   topicqueue.Run
	now   time.Time
	begun redisqueue.Begun // the last one
}

func newClocked(t *testing.T, deadline time.Duration) *clocked {
	c := &clocked{T: t, v: newVirtual(t), run: newRun("glaciers", 2), now: time.Now().Round(time.Millisecond)}
	c.q = redisqueue.New(c.v.rdb, redisqueue.DefaultTiming)
	c.run.Options.Duration, c.run.Options.WritingTime = 10*time.Minute, 2*time.Minute
	if deadline > 0 {
		c.run.Options.Deadline = c.now.Add(deadline)
	}
	c.pass(0)
	must[bool](t)(c.q.Create(t.Context(), c.run))
	fed(t, c.q, c.run)
	c.begin(redisqueue.UnitPlan, 1)
	return c
}

func (c *clocked) pass(d time.Duration) {
	c.now = c.now.Add(d)
	c.v.server.SetTime(c.now)
	c.v.server.FastForward(d)
}

func (c *clocked) begin(unit string, generation int) {
	c.Helper()
	c.begun = must[redisqueue.Begun](c.T)(c.q.Begin(c.Context(), c.run.ID, unit, generation))
}

// work advances the clock while the holder of the last lease works.
func (c *clocked) work(d time.Duration) {
	c.Helper()
	for every := redisqueue.DefaultTiming.Lease / 4; d > 0; d -= every {
		c.pass(min(d, every))
		c.sweep(false)
		if r := must[redisqueue.Renewed](c.T)(c.q.Renew(c.Context(), c.run.ID, []redisqueue.Lease{c.begun.Lease})); len(r.Lost) > 0 && c.state() == topicqueue.RunPlanning {
			c.Fatalf("lost %v", r.Lost)
		}
	}
}

func (c *clocked) sweep(takeover bool) {
	c.Helper()
	must[redisqueue.Swept](c.T)(c.q.Sweep(c.Context(), c.run.ID, takeover))
}

func (c *clocked) state() topicqueue.RunState {
	c.Helper()
	return must[topicqueue.Run](c.T)(c.q.Run(c.Context(), c.run.ID)).State
}

func (c *clocked) commit() {
	c.Helper()
	must[[]redisqueue.Intent](c.T)(c.q.CommitPlan(c.Context(), c.begun.Lease, planOf("Aletsch", "Rhone", "Fee")))
}

// TestClockOfARun: the duration of a run counts only while it is worked on. Only a deadline is absolute.
func TestClockOfARun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		deadline time.Duration // from the start; 0: none
		live     func(c *clocked)
		state    topicqueue.RunState
		seal     time.Duration // left of the time for research when the last attempt has begun
		spent    time.Duration // by the block of the last attempt
	}{
		"it is worked": {live: func(c *clocked) {
			c.work(3 * time.Minute)
			c.commit()
			c.begin("block_1", 1)
			c.work(time.Minute)
			c.begin("block_2", 1)
		}, state: topicqueue.RunResearching, seal: 4 * time.Minute},
		"its time for research is over": {live: func(c *clocked) { c.work(8 * time.Minute) },
			state: topicqueue.RunReporting, seal: 8 * time.Minute},
		"its worker is killed and nobody comes for hours": {live: func(c *clocked) {
			c.work(time.Minute)
			c.pass(3 * time.Hour)
			c.sweep(false)
			c.sweep(true)
			c.begin(redisqueue.UnitPlan, 2)
		}, state: topicqueue.RunPlanning, seal: 7 * time.Minute},
		"its worker is killed, and sweeps look at it again and again": {live: func(c *clocked) {
			c.work(time.Minute)
			for range 100 {
				c.pass(time.Minute)
				c.sweep(true)
			}
			c.begin(redisqueue.UnitPlan, 2)
		}, state: topicqueue.RunPlanning, seal: 7 * time.Minute},
		"another takes the lapsed lease before it is swept": {live: func(c *clocked) {
			c.work(time.Minute)
			c.pass(time.Hour)
			c.begin(redisqueue.UnitPlan, 1)
		}, state: topicqueue.RunPlanning, seal: 7 * time.Minute},
		"its blocks wait for a slot": {live: func(c *clocked) {
			c.work(time.Minute)
			c.commit()
			for range 10 {
				c.pass(10 * time.Minute)
				c.sweep(true)
			}
			c.begin("block_1", 1)
		}, state: topicqueue.RunResearching, seal: 7 * time.Minute},
		"one of its blocks is worked while others wait": {live: func(c *clocked) {
			c.commit()
			c.begin("block_1", 1)
			c.work(2 * time.Minute)
			c.begin("block_2", 1)
		}, state: topicqueue.RunResearching, seal: 6 * time.Minute},
		"it is paused": {live: func(c *clocked) {
			c.work(time.Minute)
			if err := c.q.Pause(c.Context(), c.run.ID); err != nil {
				c.Fatal(err)
			}
			must[[]redisqueue.Intent](c.T)(c.q.Yield(c.Context(), c.begun.Lease))
			c.pass(3 * time.Hour)
			c.sweep(true)
			must[[]redisqueue.Intent](c.T)(c.q.Resume(c.Context(), c.run.ID))
			c.begin(redisqueue.UnitPlan, 2)
		}, state: topicqueue.RunPlanning, seal: 7 * time.Minute},
		"the clock jumps while it is worked, and a sweep sees it first": {live: func(c *clocked) {
			c.work(time.Minute)
			c.pass(2 * time.Hour)
			c.sweep(false)
			c.work(50 * time.Second)
			c.commit()
			c.begin("block_1", 1)
		}, state: topicqueue.RunResearching, seal: 6*time.Minute + redisqueue.DefaultTiming.Lease/4}, // ten seconds count of the jump and the five after it
		"the clock jumps while it is worked, and its worker sees it first": {live: func(c *clocked) {
			c.work(time.Minute)
			c.pass(2*time.Hour - redisqueue.DefaultTiming.Lease/4)
			c.work(50*time.Second + redisqueue.DefaultTiming.Lease/4)
			c.commit()
			c.begin("block_1", 1)
		}, state: topicqueue.RunResearching, seal: 6 * time.Minute},
		"the clock jumps while a block is worked, and the next one sees it first": {live: func(c *clocked) {
			c.commit()
			c.begin("block_1", 1)
			c.work(time.Minute)
			c.pass(2 * time.Hour)
			c.begin("block_2", 1)
		}, state: topicqueue.RunResearching, seal: 7*time.Minute - 10*time.Second},
		"the clock jumps in the middle of a block": {live: func(c *clocked) {
			c.commit()
			c.begin("block_1", 1)
			c.work(time.Minute)
			c.pass(2 * time.Hour)
			c.sweep(false)
			must[[]redisqueue.Intent](c.T)(c.q.Yield(c.Context(), c.begun.Lease))
			c.begin("block_1", 2)
		}, state: topicqueue.RunResearching, seal: 7*time.Minute - 10*time.Second, spent: time.Minute + 10*time.Second},
		"the clock goes back": {live: func(c *clocked) {
			c.work(time.Minute)
			c.pass(-2 * time.Hour)
			c.work(time.Minute)
			c.commit()
			c.begin("block_1", 1)
		}, state: topicqueue.RunResearching, seal: 6*time.Minute + redisqueue.DefaultTiming.Lease/4},
		"a deadline passes while nobody works it": {deadline: time.Hour, live: func(c *clocked) {
			c.commit()
			c.pass(time.Hour - 2*time.Minute)
			c.sweep(true)
		}, state: topicqueue.RunReporting, seal: 8 * time.Minute},
		"a deadline comes near while nobody works it": {deadline: time.Hour, live: func(c *clocked) {
			c.commit()
			c.pass(55 * time.Minute)
			c.sweep(true)
			c.begin("block_1", 1)
		}, state: topicqueue.RunResearching, seal: 3 * time.Minute},
		"a deadline passes by a jump": {deadline: time.Hour, live: func(c *clocked) {
			c.work(time.Minute)
			c.pass(2 * time.Hour)
			c.sweep(false)
		}, state: topicqueue.RunReporting, seal: 8 * time.Minute},
		"it is tried again after it has ended": {live: func(c *clocked) {
			must[[]redisqueue.Intent](c.T)(c.q.Finish(c.Context(), c.begun.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "no"}))
			c.pass(time.Hour)
			must[[]redisqueue.Intent](c.T)(c.q.Retry(c.Context(), c.run.ID, redisqueue.RetryAll, 2))
			c.sweep(false)
			c.begin(redisqueue.UnitPlan, 2)
			c.work(time.Minute)
			c.pass(time.Hour)
			c.sweep(true)
			c.begin(redisqueue.UnitPlan, 3)
		}, state: topicqueue.RunPlanning, seal: 7 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClocked(t, tc.deadline)
			tc.live(c)
			if got := c.state(); got != tc.state {
				t.Errorf("state %s, want %s", got, tc.state)
			}
			if c.begun.Seal != tc.seal || c.begun.Spent != tc.spent {
				t.Errorf("the last attempt has begun with %s left and %s spent, want %s and %s", c.begun.Seal, c.begun.Spent, tc.seal, tc.spent)
			}
		})
	}
}
