package watch

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue/redisqueue/governor"
)

// modelServers tells a watcher that calls wait because a model server is down.
type modelServers struct {
	redis redis.UniversalClient
	down  map[string]time.Time // servers already reported
}

// look reports changes since the last call. Errors of Redis are reported elsewhere.
func (m *modelServers) look(ctx context.Context, n Noter) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	stats, err := governor.Stats(ctx, m.redis)
	if err != nil {
		return
	}
	for _, s := range stats {
		since, told := m.down[s.Server]
		switch {
		case !told && !s.Down.IsZero():
			if m.down == nil {
				m.down = map[string]time.Time{}
			}
			m.down[s.Server] = s.Down
			n.Note("the model server %s is down or overloaded%s; calls wait until it answers again", s.Host, view.Because(s.Why))
		case told && s.Down.IsZero():
			delete(m.down, s.Server)
			n.Note("the model server %s answers again, after %s", s.Host, view.Duration(time.Since(since)))
		}
	}
}
