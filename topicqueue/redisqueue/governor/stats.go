package governor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/lua"
)

// Stat is the current state of one model server, as used by all workers together.
type Stat struct {
	Server    string `json:"server"` // hash of provider, address and key
	Host      string `json:"host"`
	Limit     int    `json:"limit"` // learned limit of calls in flight; 0: no limit known
	InFlight  int    `json:"in_flight"`
	Waiting   int    `json:"waiting"`
	Throttled int    `json:"throttled"` // tries refused by a rate limit, ever
	Granted   int    `json:"granted"`   // tries, ever
	// start of the outage, during which one call at a time probes the server; zero: it is up
	Down time.Time `json:"down,omitzero"`
	Why  string    `json:"why,omitempty"` // if down: result of the last call that found it so
}

// Stats returns the state of all servers called within the last hour, by host.
func Stats(ctx context.Context, rdb redis.UniversalClient) ([]Stat, error) {
	hosts, err := rdb.HGetAll(ctx, hostsKey).Result()
	if err != nil {
		return nil, fmt.Errorf("read the governed model servers from Redis: %w", err)
	}
	out := make([]Stat, 0, len(hosts))
	for server, host := range hosts {
		v, err := statsScript.Run(ctx, rdb, []string{stateKey(server)}).Slice()
		if err != nil {
			return nil, fmt.Errorf("read the figures of model server %s from Redis: %w", host, err)
		}
		if len(v) == 0 { // no calls for an hour
			continue
		}
		s := Stat{
			Server: server, Host: host, Limit: lua.Number(v, 0), Throttled: lua.Number(v, 1), Granted: lua.Number(v, 2),
			InFlight: lua.Number(v, 5), Waiting: lua.Number(v, 6),
		}
		if lua.Number(v, 3) > 0 {
			s.Down, s.Why = lua.Time(lua.Text(v, 4)), lua.Text(v, 7)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Stat) int { return strings.Compare(a.Host+a.Server, b.Host+b.Server) })
	return out, nil
}
