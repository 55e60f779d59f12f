package redisqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// wireEvent is an event as passed to a script, which stores the JSON texts unchanged.
type wireEvent struct {
	Key     string   `json:"key"`
	Block   string   `json:"block"`
	Call    int      `json:"call"`
	Status  string   `json:"status"`
	Content string   `json:"content"`
	Meta    string   `json:"meta"`
	Hosts   []string `json:"hosts,omitempty"` // hosts of web sources, for the run's statistics
}

// events encodes events of an attempt.
func (e *encoder) events(l Lease, events ...topicqueue.Event) string {
	block := ""
	if topicqueue.BlockNumber(l.Unit) > 0 {
		block = l.Unit
	}
	wire := make([]wireEvent, len(events))
	for i, v := range events {
		wire[i] = wireEvent{Key: v.Key, Block: block, Call: v.Placement.Call, Status: v.Status, Content: string(v.Content),
			Meta: string(v.Metadata)}
		if v.Status == topicqueue.StatusReference {
			wire[i].Hosts = hosts(v.Content)
		}
	}
	return e.json(wire)
}

// hosts returns the hosts of the web sources in a reference; a document key has none.
func hosts(content json.RawMessage) []string {
	var r topicqueue.Reference
	if err := json.Unmarshal(content, &r); err != nil {
		return nil // not from a block
	}
	var out []string
	for key := range r.References {
		if u, err := url.Parse(key); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" {
			out = append(out, strings.ToLower(u.Hostname()))
		}
	}
	return out
}

// Emit appends events under a lease. An event with a key is appended once per epoch.
func (q *attempts) Emit(ctx context.Context, l Lease, events ...topicqueue.Event) error {
	if len(events) == 0 {
		return nil
	}
	var e encoder
	data := e.events(l, events...)
	if e.err != nil {
		return fmt.Errorf("encode events of run %s: %w", l.RunID, e.err)
	}
	_, err := q.run(ctx, emitScript, "event", l.RunID, l.Unit, l.Generation, l.owner, data)
	return err
}

// Events returns the events of a run after number seq, at most 1,000. With wait > 0 it waits up to wait for a first
// event; the result is empty if none arrives.
//
// It returns a *topicqueue.Gap if the next events are no longer stored, with the position to continue from. It
// returns ErrNotFound if there is no such run (any more).
func (q *reader) Events(ctx context.Context, runID string, seq int64, wait time.Duration) ([]topicqueue.Event, error) {
	events, err := q.readEvents(ctx, runID, seq, -1)
	if err != nil || len(events) > 0 {
		return events, err
	}
	text, err := q.rdb.HMGet(ctx, key(runID, "run"), "id", "seq").Result()
	if err != nil {
		return nil, redisError(err, "read events of run %s", runID)
	}
	if text[0] == nil {
		return nil, fmt.Errorf("read events of run %s: %w", runID, ErrNotFound)
	}
	last := int64(lua.Number(text, 1))
	switch {
	case last < seq:
		return nil, &topicqueue.Gap{RunID: runID, From: seq + 1, To: last}
	case last > seq: // new since the first read, or trimmed
		events, err = q.readEvents(ctx, runID, seq, -1)
		if err == nil && len(events) == 0 {
			err = &topicqueue.Gap{RunID: runID, From: seq + 1, To: last}
		}
		return events, err
	case wait <= 0:
		return nil, nil
	}
	return q.readEvents(ctx, runID, seq, wait)
}

// AllEvents returns every event of a run's epoch so far. Where events were trimmed, it inserts an event with
// topicqueue.StatusGap.
func (q *reader) AllEvents(ctx context.Context, runID string, now time.Time) ([]topicqueue.Event, error) {
	since, err := q.rdb.HGet(ctx, key(runID, "run"), "since").Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, redisError(err, "read events of run %s", runID)
	}
	var all []topicqueue.Event
	for after := since; ; after = all[len(all)-1].Seq {
		more, err := q.Events(ctx, runID, after, 0)
		var gap *topicqueue.Gap
		switch {
		case errors.As(err, &gap):
			more = []topicqueue.Event{gap.Event(now)}
		case err != nil:
			return nil, err
		case len(more) == 0:
			return all, nil
		}
		all = append(all, more...)
	}
}

// readEvents reads events from the stream. wait < 0: do not wait.
func (q *reader) readEvents(ctx context.Context, runID string, seq int64,
	wait time.Duration) ([]topicqueue.Event, error) {
	streams, err := q.rdb.XRead(ctx, &redis.XReadArgs{
		Streams: []string{key(runID, "events"), strconv.FormatInt(seq, 10) + "-0"}, Block: wait, Count: 1000,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, redisError(err, "read events of run %s", runID)
	}
	out := make([]topicqueue.Event, len(streams[0].Messages))
	for i, m := range streams[0].Messages {
		if out[i], err = decodeEvent(runID, m); err != nil {
			return nil, err
		}
	}
	if len(out) > 0 && out[0].Seq != seq+1 {
		return nil, &topicqueue.Gap{RunID: runID, From: seq + 1, To: out[0].Seq - 1}
	}
	return out, nil
}

func decodeEvent(runID string, m redis.XMessage) (topicqueue.Event, error) {
	field := func(name string) string { s, _ := m.Values[name].(string); return s }
	count := func(name string) int { n, _ := strconv.Atoi(field(name)); return n }
	id, _, _ := strings.Cut(m.ID, "-")
	seq, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return topicqueue.Event{}, fmt.Errorf("event %s of run %s: %w", m.ID, runID, err)
	}
	e := topicqueue.Event{
		Seq: seq, Time: lua.Time(field("time")), RunID: runID, BlockID: field("block"), Attempt: count("attempt"),
		Placement: topicqueue.Placement{Wave: count("wave"), Lane: count("lane"), Step: count("step"), Call: count("call")},
		Status:    field("status"), Content: json.RawMessage(field("content")),
	}
	if meta := field("meta"); meta != "" {
		e.Metadata = json.RawMessage(meta)
	}
	return e, nil
}
