// Package eventtest checks the streams of runs against the event schema: the order of statuses and step keys of a run
// that succeeds, fails, is cancelled or runs out of time, and the rules for every run. It is for tests. Entry points:
// Check for a stream that has ended, Stream for a stream that is still growing, Parse for single messages.
package eventtest

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"nightdesk/topicqueue"
)

// Check reports every fault of a complete stream as a test error.
func Check(t testing.TB, events []topicqueue.Event) {
	t.Helper()
	faults := Faults(events)
	for _, f := range faults {
		t.Error(f)
	}
	if len(faults) > 0 {
		t.Logf("the stream:\n%s", Lines(events))
	}
}

// CheckRun is Check for a run that has ended: its statistics must also state the time since its planning began.
func CheckRun(t testing.TB, run topicqueue.Run, events []topicqueue.Event) {
	t.Helper()
	Check(t, events)
	spent := 0.0
	if !run.StartedAt.IsZero() {
		spent = run.EndedAt.Sub(run.StartedAt).Minutes()
	}
	stated := -1.0
	for _, e := range events {
		if s, ok := decode[topicqueue.SummaryStatistics](e); ok && e.Status == topicqueue.StatusSummaryStatistics {
			stated = s.UsedTime
		}
	}
	if math.Abs(stated-spent) > rounded {
		t.Errorf("run %s: used_time is %.3f, but it took %.3f minutes", run.ID, stated, spent)
	}
}

// Faults returns the faults of a complete stream; none if it is correct.
func Faults(events []topicqueue.Event) []string {
	s := New()
	for _, e := range events {
		s.Next(e)
	}
	return s.End()
}

// Lines formats a stream for display, one event per line.
func Lines(events []topicqueue.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s/%d %v %s %s\n", e.Seq, e.BlockID, e.Attempt, e.Placement, e.Status, e.Content)
	}
	return b.String()
}

// Stream checks one run's stream from its first event on.
type Stream struct {
	faults []string
	last   topicqueue.Event // zero before the first
	first  time.Time

	lanes   map[[2]int]*lane // by wave and lane
	lanesOf map[string]int   // wave of each block

	order
}

// lane is one lane of one wave.
type lane struct {
	place   topicqueue.Placement // of its last event
	attempt int
}

// New returns a Stream before its first event.
func New() *Stream {
	return &Stream{lanes: map[[2]int]*lane{}, lanesOf: map[string]int{}, order: newOrder()}
}

// Next adds the next event and returns all faults so far. End adds the faults that only a complete stream can have.
func (s *Stream) Next(e topicqueue.Event) []string {
	at := fmt.Sprintf("event %d (%s %s): ", e.Seq, e.Status, e.Content)
	fault := func(format string, args ...any) { s.faults = append(s.faults, at+fmt.Sprintf(format, args...)) }
	s.envelope(e, fault)
	s.placement(e, fault)
	s.order.next(e, fault)
	s.last = e
	return s.faults
}

// End returns all faults of a complete stream.
func (s *Stream) End() []string {
	s.order.end(func(format string, args ...any) {
		s.faults = append(s.faults, fmt.Sprintf("end of the stream: "+format, args...))
	})
	return s.faults
}

type faultFunc func(format string, args ...any)

func (s *Stream) envelope(e topicqueue.Event, fault faultFunc) {
	if e.Seq != s.last.Seq+1 {
		fault("seq follows %d", s.last.Seq)
	}
	if s.last.Seq == 0 {
		s.first = e.Time
		s.order.first = e.Time
	} else if e.RunID != s.last.RunID {
		fault("run_id %q after %q", e.RunID, s.last.RunID)
	}
	if e.RunID == "" {
		fault("no run_id")
	}
	if e.Time.IsZero() || e.Time.Before(s.last.Time) {
		fault("time %v after %v", e.Time, s.last.Time)
	}
	if e.Attempt < 0 {
		fault("attempt %d", e.Attempt)
	}
	if line, err := json.Marshal(e); err != nil {
		fault("invalid JSON: %v", err)
	} else if _, _, err := Parse(line); err != nil {
		fault("a strict client: %v", err)
	}
	if e.BlockID != "" && topicqueue.BlockNumber(e.BlockID) == 0 {
		fault("block_id %q", e.BlockID)
	}
	if e.Status == topicqueue.StatusGap {
		fault("a stored stream must not contain a gap")
	}
}

// placement checks that waves follow each other, that a block keeps its wave and lane, and that the steps of a lane
// and the calls of a step count up.
func (s *Stream) placement(e topicqueue.Event, fault faultFunc) {
	p := e.Placement
	wave := s.last.Placement.Wave
	if p.Wave < wave || p.Wave > wave+1 {
		fault("wave %d after wave %d", p.Wave, wave)
	}
	if p.Wave > wave && !s.aborted {
		for id := range s.lanesOf {
			if s.lanesOf[id] == wave && !s.done[topicqueue.BlockNumber(id)] {
				fault("wave %d begins while %s of wave %d is open", p.Wave, id, wave)
			}
		}
	}
	if n := topicqueue.BlockNumber(e.BlockID); p.Lane != n {
		fault("lane %d for block_id %q", p.Lane, e.BlockID)
	} else if n > 0 {
		if w, seen := s.lanesOf[e.BlockID]; seen && w != p.Wave {
			fault("%s moves from wave %d to wave %d", e.BlockID, w, p.Wave)
		}
		s.lanesOf[e.BlockID] = p.Wave
	}
	key := [2]int{p.Wave, p.Lane}
	l := s.lanes[key]
	switch {
	case l == nil:
		l = &lane{}
		s.lanes[key] = l
		if p.Step != 0 || p.Call != 0 {
			fault("the lane begins with step %d, call %d", p.Step, p.Call)
		}
	case p.Step == l.place.Step+1 && p.Call == 0, p.Step == l.place.Step && p.Call == l.place.Call+1:
	default:
		fault("step %d, call %d after step %d, call %d of the lane", p.Step, p.Call, l.place.Step, l.place.Call)
	}
	if p.Lane > 0 && e.Attempt < l.attempt {
		fault("attempt %d after attempt %d", e.Attempt, l.attempt)
	}
	l.place, l.attempt = p, e.Attempt
}
