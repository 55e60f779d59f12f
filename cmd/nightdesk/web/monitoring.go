package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

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
		PayloadFormatter: asynqmon.PayloadFormatterFunc(describePayload),
		ResultFormatter: asynqmon.ResultFormatterFunc(func(_ string, result []byte) string {
			return strings.Join(wrap(string(result), textColumns), "\n")
		}),
	})
}

// shared lets asynqmon use an open client. Its Close must not be called, because that would close the client.
type shared struct{ client redis.UniversalClient }

// MakeRedisClient returns the client.
func (s shared) MakeRedisClient() any { return s.client }

var _ asynq.RedisConnOpt = shared{}

// textColumns is the line width for payloads and results. Longer lines push the last column off the screen.
const textColumns = 28

// describePayload describes a task in short lines, topic first. The task ID already contains the run.
func describePayload(kind string, payload []byte) string {
	var p struct {
		Topic, Title, Batch, Unit string
		Generation                int
	}
	if json.Unmarshal(payload, &p) != nil || p.Unit == "" {
		return asynqmon.DefaultPayloadFormatter.FormatPayload(kind, payload)
	}
	lines := append(wrap(p.Topic, textColumns), wrap(p.Title, textColumns)...)
	lines = append(lines, fmt.Sprintf("%s, attempt %d", p.Unit, p.Generation))
	if p.Batch != "" {
		lines = append(lines, wrap("batch "+p.Batch, textColumns)...)
	}
	return strings.Join(lines, "\n")
}

// wrap breaks text into lines of at most width runes, preferably between words.
func wrap(text string, width int) (lines []string) {
	line := []rune{}
	for _, word := range strings.Fields(text) {
		next := []rune(word)
		if len(line) > 0 && len(line)+1+len(next) > width {
			lines, line = append(lines, string(line)), nil
		} else if len(line) > 0 {
			line = append(line, ' ')
		}
		for line = append(line, next...); len(line) > width; line = line[width:] {
			lines = append(lines, string(line[:width]))
		}
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}
