package web

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"
)

const monitoringPath = "/monitoring"

// monitoring returns asynqmon, which can only look.
func monitoring(rdb redis.UniversalClient) http.Handler {
	return asynqmon.New(asynqmon.Options{
		RootPath: monitoringPath, RedisConnOpt: shared{rdb}, ReadOnly: true, PayloadFormatter: asynqmon.PayloadFormatterFunc(describePayload),
	})
}

// shared lets asynqmon use a client that is open already. Nobody calls its Close, which would close it.
type shared struct{ client redis.UniversalClient }

// MakeRedisClient returns the client.
func (s shared) MakeRedisClient() any { return s.client }

var _ asynq.RedisConnOpt = shared{}

// describePayload shortens what the task's id says anyway, so that the last error has a place on the screen.
func describePayload(kind string, payload []byte) string {
	var p struct {
		Unit       string `json:"unit"`
		Generation int    `json:"generation"`
	}
	if json.Unmarshal(payload, &p) != nil || p.Unit == "" {
		return asynqmon.DefaultPayloadFormatter.FormatPayload(kind, payload)
	}
	return fmt.Sprintf("%s, attempt %d", p.Unit, p.Generation)
}
