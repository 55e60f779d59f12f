package redisqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
)

// wireEvent is an event on its way into a script, which stores the JSON texts as they are.
type wireEvent struct {
	Key     string `json:"key"`
	Block   string `json:"block"`
	Place   string `json:"place"`
	Status  string `json:"status"`
	Content string `json:"content"`
	Meta    string `json:"meta"`
}

func encodeEvents(l Lease, events []topicqueue.Event) (string, error) {
	block := ""
	if topicqueue.BlockNumber(l.Unit) > 0 {
		block = l.Unit
	}
	wire := make([]wireEvent, len(events))
	for i, e := range events {
		place, err := json.Marshal(e.Placement)
		if err != nil {
			return "", fmt.Errorf("encode event of run %s: %w", l.RunID, err)
		}
		wire[i] = wireEvent{Key: e.Key, Block: block, Place: string(place), Status: e.Status, Content: string(e.Content), Meta: string(e.Metadata)}
	}
	data, err := json.Marshal(wire)
	if err != nil {
		return "", fmt.Errorf("encode events of run %s: %w", l.RunID, err)
	}
	return string(data), nil
}

// Emit appends events in the name of a lease; an event with a key only once in the life of the run.
func (q *Queue) Emit(ctx context.Context, l Lease, events ...topicqueue.Event) error {
	if len(events) == 0 {
		return nil
	}
	data, err := encodeEvents(l, events)
	if err != nil {
		return err
	}
	_, err = q.run(ctx, emitScript, "event", l.RunID, l.Unit, l.Generation, l.owner, data)
	return err
}

// Events returns the events of a run after the one with number seq. With wait > 0 it waits that long for a first one;
// the answer is empty when none came.
func (q *Queue) Events(ctx context.Context, runID string, seq int64, wait time.Duration) ([]topicqueue.Event, error) {
	if wait <= 0 {
		wait = -1 // go-redis: do not block
	}
	streams, err := q.rdb.XRead(ctx, &redis.XReadArgs{
		Streams: []string{key(runID, "events"), strconv.FormatInt(seq, 10) + "-0"}, Block: wait, Count: 1000,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read events of run %s from Redis: %w", runID, err)
	}
	var out []topicqueue.Event
	for _, m := range streams[0].Messages {
		e, err := decodeEvent(runID, m)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func decodeEvent(runID string, m redis.XMessage) (topicqueue.Event, error) {
	field := func(name string) string { s, _ := m.Values[name].(string); return s }
	id, _, _ := strings.Cut(m.ID, "-")
	seq, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return topicqueue.Event{}, fmt.Errorf("event %s of run %s: %w", m.ID, runID, err)
	}
	attempt, _ := strconv.Atoi(field("attempt"))
	e := topicqueue.Event{
		Seq: seq, Time: millis(field("time")), RunID: runID, BlockID: field("block"), Attempt: attempt,
		Status: field("status"), Content: json.RawMessage(field("content")),
	}
	if meta := field("meta"); meta != "" {
		e.Metadata = json.RawMessage(meta)
	}
	if err := json.Unmarshal([]byte(field("place")), &e.Placement); err != nil {
		return e, fmt.Errorf("event %s of run %s: %w", m.ID, runID, err)
	}
	return e, nil
}
