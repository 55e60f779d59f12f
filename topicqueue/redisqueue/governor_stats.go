package redisqueue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// GovernorStat is how one model server is asked at the moment, by all workers together.
type GovernorStat struct {
	Server    string `json:"server"` // hash of provider, address and key
	Host      string `json:"host"`
	Limit     int    `json:"limit"` // calls in flight, as learned; 0 = no limit is known
	InFlight  int    `json:"in_flight"`
	Waiting   int    `json:"waiting"`
	Throttled int    `json:"throttled"` // tries that were refused for being too many, ever
	Granted   int    `json:"granted"`   // tries, ever
	// since when one call at a time finds out whether it is up again; zero = it is up
	Down time.Time `json:"down,omitzero"`
	Why  string    `json:"why,omitempty"` // it is down: what the last call that found it so came to
}

// GovernorStats returns the figures of all servers that were asked within the last hour, by host.
func GovernorStats(ctx context.Context, rdb redis.UniversalClient) ([]GovernorStat, error) {
	hosts, err := rdb.HGetAll(ctx, governorHosts).Result()
	if err != nil {
		return nil, fmt.Errorf("read the governed model servers from Redis: %w", err)
	}
	out := make([]GovernorStat, 0, len(hosts))
	for server, host := range hosts {
		v, err := governorStatsScript.Run(ctx, rdb, []string{governorKey(server)}).Slice()
		if err != nil {
			return nil, fmt.Errorf("read the figures of model server %s from Redis: %w", host, err)
		}
		if len(v) == 0 { // nobody has asked it for an hour
			continue
		}
		s := GovernorStat{
			Server: server, Host: host, Limit: number(v, 0), Throttled: number(v, 1), Granted: number(v, 2),
			InFlight: number(v, 5), Waiting: number(v, 6),
		}
		if number(v, 3) > 0 {
			s.Down, s.Why = millis(text(v, 4)), text(v, 7)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b GovernorStat) int { return strings.Compare(a.Host+a.Server, b.Host+b.Server) })
	return out, nil
}
