package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// poller is the connection of an asynq server, which asks queue by queue for a task, several times a second. While all
// of its queues are empty, poller answers for all but the first of a round: an idle worker costs Redis one command a
// round instead of one for each queue. When nothing has come for a while, rounds become rarer.
type poller struct {
	redis.UniversalClient
	pending []string // keys of what waits, in the order in which asynq asks

	// Of the goroutine that takes tasks, which alone looks at them:
	empty bool      // nothing waited when this round began
	last  time.Time // when something last did
}

const (
	awake = 10 * time.Second       // after a task, for which rounds are as often as asynq makes them
	doze  = 50                     // part of the time without a task that a pause between rounds beyond that takes
	sleep = 500 * time.Millisecond // the longest pause
)

// dequeueKeys is how many keys asynq's script has that takes a task: pending, paused, active, lease.
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
	if len(keys) != dequeueKeys || !slices.Contains(p.pending, keys[0]) { // it takes no task
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
