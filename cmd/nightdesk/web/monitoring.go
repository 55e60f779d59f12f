package web

import (
	"net/http"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"
)

const monitoringPath = "/monitoring"

// monitoring returns asynqmon. Only admins who logged in with a token may change tasks; without tokens it is
// read-only.
func monitoring(rdb redis.UniversalClient, tokens bool) http.Handler {
	look, change := asynqmonOn(rdb, true), asynqmonOn(rdb, false)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tokens && roleOf(r.Context()) == admin {
			change.ServeHTTP(w, r)
			return
		}
		look.ServeHTTP(w, r)
	})
}

func asynqmonOn(rdb redis.UniversalClient, readOnly bool) http.Handler {
	return asynqmon.New(asynqmon.Options{
		RootPath: monitoringPath, RedisConnOpt: shared{rdb}, ReadOnly: readOnly,
	})
}

// shared lets asynqmon use an open client. Its Close must not be called, because that would close the client.
type shared struct{ client redis.UniversalClient }

// MakeRedisClient returns the client.
func (s shared) MakeRedisClient() any { return s.client }

var _ asynq.RedisConnOpt = shared{}
