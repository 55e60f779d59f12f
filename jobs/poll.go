package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// poller is the connection of an asynq server, which polls queue by queue for a task, several times a second. While all
// of its queues are empty, poller itself answers all polls of a round except the first one. An idle worker then sends
// Redis one command per round instead of one per queue. If no task arrives for a while, rounds become less frequent.
type poller struct {
	redis.UniversalClient
	pending []string // keys of pending tasks, in asynq's polling order

	// Used only by the goroutine that dequeues tasks:
	empty bool      // whether no task was pending when this round began
	last  time.Time // when a task was last pending
}

const (
	awake = 10 * time.Second       // time after a task during which asynq polls at its own rate
	doze  = 50                     // after that, a pause between rounds is 1/doze of the time without a task
	sleep = 500 * time.Millisecond // maximum pause
)

// dequeueKeys is the number of keys of asynq's dequeue script: pending, paused, active, lease.
const dequeueKeys = 4

// newPoller returns the connection for a server of queues with these priorities, which asynq follows strictly.
func newPoller(rdb redis.UniversalClient, queues map[string]int) redis.UniversalClient {
	if _, one := rdb.(*redis.Client); !one {
		return rdb // a cluster answers for one queue at a time
	}
	names := make([]string, 0, len(queues))
	for name := range queues {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return queues[b] - queues[a] })
	p := &poller{UniversalClient: rdb}
	for _, name := range names {
		p.pending = append(p.pending, "asynq:{"+name+"}:pending")
	}
	return p
}

// EvalSha implements redis.Scripter.
func (p *poller) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if len(keys) != dequeueKeys || !slices.Contains(p.pending, keys[0]) { // not a dequeue
		return p.UniversalClient.EvalSha(ctx, sha, keys, args...)
	}
	if keys[0] == p.pending[0] {
		waiting, err := p.Exists(ctx, p.pending...).Result()
		p.empty = err == nil && waiting == 0
		if !p.empty || p.last.IsZero() {
			p.last = time.Now()
		}
		if quiet := time.Since(p.last); quiet > awake {
			time.Sleep(min(quiet/doze, sleep))
		}
	}
	if p.empty {
		cmd := redis.NewCmd(ctx)
		cmd.SetErr(redis.Nil)
		return cmd
	}
	return p.UniversalClient.EvalSha(ctx, sha, keys, args...)
}
