package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/retry"
)

const (
	newsPause = 300 * time.Millisecond // polling interval for events
	endPause  = 2 * time.Second        // polling interval for the end of the run
	keepAlive = 15 * time.Second       // proxies close idle connections
	writeTime = 30 * time.Second       // timeout for sending an event to the client
)

// followRequest selects the events of a run.
type followRequest struct {
	desk.RunRequest
	Last  string `json:"last,omitempty" header:"Last-Event-ID" valid:"event" jsonschema:"the last event received"`
	After string `json:"after,omitempty" valid:"event" jsonschema:"the same, for clients that cannot set the header"`
}

// follow streams the events of a run: the existing ones, then each new one. It polls, because blocking in Redis would
// occupy a connection per stream.
func (a *server) follow(w http.ResponseWriter, r *http.Request, in followRequest) error {
	ctx := r.Context()
	seq, _ := strconv.ParseInt(cmp.Or(in.After, in.Last), 10, 64) // no number: from the beginning
	run, err := a.Desk.Find(ctx, in.RunID)
	if err != nil {
		return err
	}
	id := run.ID
	events, err := a.Desk.Events(ctx, id, seq)
	if err != nil {
		return err
	}
	if len(events) == 0 && !run.EndedAt.IsZero() { // 204 stops the client from reconnecting after the end
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	s := newStream(w)
	for looked := time.Now(); ; {
		for _, e := range events {
			if seq = e.Seq; s.send(e) != nil {
				return nil // the client has disconnected
			}
			if e.Status == topicqueue.StatusComplete {
				return nil
			}
		}
		if len(events) == 0 {
			if s.idle() != nil || retry.Sleep(ctx, newsPause) != nil {
				return nil
			}
			if time.Since(looked) > endPause {
				looked = time.Now()
				if run, err = a.Desk.Find(ctx, id); err != nil {
					return nil // the error cannot be sent any more; the client reconnects
				}
			}
		}
		if events, err = a.Desk.Events(ctx, id, seq); err != nil || len(events) == 0 && !run.EndedAt.IsZero() {
			return nil
		}
	}
}

// stream writes a text/event-stream response.
type stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	sent time.Time
}

func newStream(w http.ResponseWriter) *stream {
	s := &stream{w: w, rc: http.NewResponseController(w), sent: time.Now()}
	_ = s.rc.SetReadDeadline(time.Time{}) // the server's deadline would end the stream
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // makes a proxy forward each event immediately
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

// idle writes a comment if nothing was sent for a while.
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
