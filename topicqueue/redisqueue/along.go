package redisqueue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
)

// along passes the text that models are writing to live readers. Nothing depends on it, because the run's events and
// report have the complete text.
type along struct{ base }

const (
	watchedTime  = 10 * time.Second       // how long ReadAlong counts as a reader
	deltasTime   = time.Minute            // how long pieces are kept
	deltasKept   = 2000                   // approximate number of pieces
	deltaPause   = 150 * time.Millisecond // minimum interval between two pieces of one answer
	deltaTimeout = time.Second            // for writing one piece
)

// ReadAlong announces a live reader for the next ten seconds and must be repeated within that time.
func (q *along) ReadAlong(ctx context.Context, runID string) error {
	return redisError(q.rdb.Set(ctx, key(runID, "watched"), 1, watchedTime).Err(), "read along with run %s", runID)
}

// Deltas returns the text that models have written for a run after the piece with id after, and the id of the last
// piece. With after = "" it returns only that id, from which a new reader continues.
func (q *along) Deltas(ctx context.Context, runID, after string) ([]topicqueue.Event, string, error) {
	if after == "" {
		last, err := q.rdb.XRevRangeN(ctx, key(runID, "deltas"), "+", "-", 1).Result()
		if err != nil {
			return nil, "", redisError(err, "read the live text of run %s", runID)
		}
		if len(last) == 0 {
			return nil, "0", nil
		}
		return nil, last[0].ID, nil
	}
	streams, err := q.rdb.XRead(ctx, &redis.XReadArgs{
		Streams: []string{key(runID, "deltas"), after}, Count: 1000, Block: -1}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, after, nil
	}
	if err != nil {
		return nil, after, redisError(err, "read the live text of run %s", runID)
	}
	var out []topicqueue.Event
	for _, m := range streams[0].Messages {
		after = m.ID
		text, _ := m.Values["event"].(string)
		var e topicqueue.Event
		if json.Unmarshal([]byte(text), &e) == nil {
			out = append(out, e)
		}
	}
	return out, after, nil
}

// Write returns a function that passes on an answer while it is written, or nil if there is no live reader. stage,
// block and step: see topicqueue.Usage. An empty piece ends the answer.
func (q *along) Write(ctx context.Context, runID, stage, block, step string) func(piece string) {
	if n, err := q.rdb.Exists(ctx, key(runID, "watched")).Result(); err != nil || n == 0 {
		return nil
	}
	w := &writing{along: q, run: runID, block: block, wave: waveOf(stage),
		delta: topicqueue.Delta{Step: step, Answer: strings.ToLower(rand.Text()[:10])}}
	return func(piece string) {
		w.text.WriteString(piece)
		if piece == "" || time.Since(w.sent) >= deltaPause {
			w.send(ctx, piece == "")
		}
	}
}

// waveOf returns the wave of a stage, see topicqueue.Placement.
func waveOf(stage string) int {
	switch stage {
	case "planning":
		return 0
	case "reporting":
		return 2
	}
	return 1
}

// writing is one answer in transit.
type writing struct {
	*along
	run, block string
	wave       int
	delta      topicqueue.Delta
	text       strings.Builder // not yet sent
	sent       time.Time
	gone       bool // Redis is unreachable, so the rest is not sent
}

func (w *writing) send(ctx context.Context, done bool) {
	w.delta.Text, w.delta.Done = w.text.String(), done
	w.text.Reset()
	w.sent = time.Now()
	if w.gone {
		return
	}
	e := topicqueue.NewEvent("", topicqueue.StatusDelta, struct {
		Type string `json:"type"`
		topicqueue.Delta
	}{topicqueue.StatusDelta, w.delta})
	e.RunID, e.BlockID, e.Time = w.run, w.block, w.sent.UTC()
	e.Placement = topicqueue.Placement{Wave: w.wave, Lane: max(0, topicqueue.BlockNumber(w.block))}
	data, err := json.Marshal(e)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, deltaTimeout)
	defer cancel()
	name := key(w.run, "deltas")
	_, err = w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.XAdd(ctx, &redis.XAddArgs{Stream: name, MaxLen: deltasKept, Approx: true, Values: []any{"event", data}})
		p.Expire(ctx, name, deltasTime)
		return nil
	})
	w.gone = err != nil
}
