package web

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
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
		PayloadFormatter: asynqmon.PayloadFormatterFunc(describePayload),
	})
}

// shared lets asynqmon use an open client. Its Close must not be called, because that would close the client.
type shared struct{ client redis.UniversalClient }

// MakeRedisClient returns the client.
func (s shared) MakeRedisClient() any { return s.client }

var _ asynq.RedisConnOpt = shared{}

// describePayload describes a task in short lines, topic first, because a long line pushes the last column off the
// screen. The task ID already contains the run.
func describePayload(kind string, payload []byte) string {
	var p struct {
		Topic, Title, Batch, Unit string
		Generation                int
	}
	if json.Unmarshal(payload, &p) != nil || p.Unit == "" {
		return asynqmon.DefaultPayloadFormatter.FormatPayload(kind, payload)
	}
	const width = 40
	text := topicqueue.Clip(p.Topic, width)
	if p.Title != "" {
		text += "\n" + topicqueue.Clip(p.Title, width)
	}
	return fmt.Sprintf("%s\n%s, attempt %d\nbatch %s", text, p.Unit, p.Generation, p.Batch)
}
