package web

import (
	"net/http"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"
)

const monitoringPath = "/monitoring"

// monitoring returns asynqmon. It is read-only: tasks are changed through their runs.
func monitoring(rdb redis.UniversalClient) http.Handler {
	return asynqmon.New(asynqmon.Options{RootPath: monitoringPath, RedisConnOpt: shared{rdb}, ReadOnly: true})
}

// shared lets asynqmon use an open client. Its Close must not be called, because that would close the client.
type shared struct{ client redis.UniversalClient }

// MakeRedisClient returns the client.
func (s shared) MakeRedisClient() any { return s.client }

var _ asynq.RedisConnOpt = shared{}
