package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

const (
	newsPause = 300 * time.Millisecond // between two looks for events
	endPause  = 2 * time.Second        // between two looks whether the run has ended
	keepAlive = 15 * time.Second       // proxies close a connection on which nothing comes
	writeTime = 30 * time.Second       // that a client has to take an event
)

// followRun streams the events of a run: first those that there are, then each as it comes. It does not wait for them
// in Redis, where a stream would hold a connection.
func (a runs) followRun(c *call) (any, error) {
	ctx, id := c.Context(), c.PathValue("run")
	text := c.Header.Get("Last-Event-ID")
	if after := c.URL.Query().Get("after"); after != "" {
		text = after
	}
	seq, _ := strconv.ParseInt(text, 10, 64) // none: from the beginning
	run, _, err := a.find(ctx, id)
	if err != nil {
		return nil, err
	}
	events, err := a.events(ctx, id, seq)
	if err != nil {
		return nil, err
	}
	if len(events) == 0 && !run.EndedAt.IsZero() { // a client that comes back after the end is told to stay away
		c.w.WriteHeader(http.StatusNoContent)
		return nil, nil
	}
	s := newStream(c.w)
	for looked := time.Now(); ; {
		for _, e := range events {
			if seq = e.Seq; s.send(e) != nil {
				return nil, nil // the client is gone
			}
			if e.Status == topicqueue.StatusComplete {
				return nil, nil
			}
		}
		if len(events) == 0 {
			if s.idle() != nil || retry.Sleep(ctx, newsPause) != nil {
				return nil, nil
			}
			if time.Since(looked) > endPause {
				looked = time.Now()
				if run, _, err = a.find(ctx, id); err != nil {
					return nil, nil // nothing can be said any more: the client comes back
				}
			}
		}
		if events, err = a.events(ctx, id, seq); err != nil || len(events) == 0 && !run.EndedAt.IsZero() {
			return nil, nil
		}
	}
}

// events returns the events after the one with number seq, of a run that has left the queue from its bundle.
func (a runs) events(ctx context.Context, id string, seq int64) ([]topicqueue.Event, error) {
	events, err := a.queue.Events(ctx, id, seq, 0)
	var gap *topicqueue.Gap
	switch {
	case errors.As(err, &gap):
		return []topicqueue.Event{gap.Event(time.Now().UTC())}, nil
	case !errors.Is(err, redisqueue.ErrNotFound):
		return events, err
	}
	body, err := a.store.Get(ctx, storage.CacheKey(id, "events.jsonl"))
	if errors.Is(err, storage.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(body) {
		var e topicqueue.Event
		if json.Unmarshal(line, &e) == nil && e.Seq > seq {
			events = append(events, e)
		}
	}
	return events, err
}

// stream writes text/event-stream.
type stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	sent time.Time
}

func newStream(w http.ResponseWriter) *stream {
	s := &stream{w: w, rc: http.NewResponseController(w), sent: time.Now()}
	_ = s.rc.SetReadDeadline(time.Time{}) // that of the server would end the stream
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy passes each event on at once
	_ = s.write("retry: 2000\n\n")
	return s
}

func (s *stream) send(e topicqueue.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("id: %d\ndata: %s\n\n", e.Seq, data))
}

// idle writes a comment when nothing was sent for a while.
func (s *stream) idle() error {
	if time.Since(s.sent) < keepAlive {
		return nil
	}
	return s.write(": nothing new\n\n")
}

func (s *stream) write(text string) error {
	s.sent = time.Now()
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.rc.Flush()
}
