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

// monitoring returns asynqmon. It changes tasks only for those who have shown that they may: where pages are open to
// whoever uses this machine, for nobody.
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

// shared lets asynqmon use a client that is open already. Nobody calls its Close, which would close it.
type shared struct{ client redis.UniversalClient }

// MakeRedisClient returns the client.
func (s shared) MakeRedisClient() any { return s.client }

var _ asynq.RedisConnOpt = shared{}

// textColumns is how wide payloads and results are shown: with long lines the last column is not on the screen.
const textColumns = 28

// describePayload says what a task is about, the topic first, in short lines; the run stands in the task's id.
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

// wrap breaks a text into lines of at most so many runes, between words where it can.
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
