package governor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

const (
	channelPrefix = lua.Prefix + "gov:" // followed by the process id
	hostsKey      = lua.Prefix + "governors"
)

var (
	speakScript = lua.Script("governor")
	statsScript = lua.Script("governor_stats")
)

// governed is the state of one process at one server.
type governed struct {
	id, host   string
	limits     topicqueue.CallLimits
	registered bool
	waiting    map[string]*waiting
	held       map[string]held
	ends       []ending
	look       time.Time     // last or, while calls wait, next mention of all calls and permits
	retry      time.Duration // pause after a failed call to Redis; 0: none failed
	notBefore  time.Time     // earliest time of the next attempt after a failure
}

// waiting is a call that waits for a permit.
type waiting struct {
	ask
	call    topicqueue.Call
	granted chan error // buffered; nil: the call has its permit
	fresh   bool       // not yet sent to Redis
}

// held is a permit in use.
type held struct {
	call                    string
	tokens                  int // reserved
	epoch, answered, inside int // of the server when the permit was granted
}

// Parts of a batch, in the script's format.
type (
	ask struct {
		ID      string `json:"id"`
		Run     string `json:"run"`
		Class   int    `json:"class"`
		Tokens  int    `json:"tokens"`
		Patient bool   `json:"patient"`
	}
	ending struct {
		ID       string                 `json:"id"`
		Call     string                 `json:"call"`
		Outcome  topicqueue.CallOutcome `json:"outcome"`
		Tokens   int                    `json:"tokens"`
		Epoch    int                    `json:"epoch"`
		Answered int                    `json:"answered"`
		Inside   int                    `json:"inside"`
		Why      string                 `json:"why,omitempty"`

		used    int
		verdict chan topicqueue.CallVerdict // buffered; nil: the verdict is not needed
	}
	batch struct {
		Process string                `json:"process"`
		Channel string                `json:"channel"`
		Lease   int64                 `json:"lease"` // ms
		Wait    int64                 `json:"wait"`  // ms
		Limits  topicqueue.CallLimits `json:"limits"`
		Ends    []ending              `json:"ends"`
		Keep    []string              `json:"keep"`
		Asks    []ask                 `json:"asks"`

		all bool // mentions all live calls and permits
	}
)

// batch returns the next message to Redis, and false if there is nothing to send. Its ends are removed from s.
func (s *governed) batch(now time.Time, last bool) (batch, bool) {
	if now.Before(s.notBefore) && !last {
		return batch{}, false
	}
	b := batch{Limits: s.limits, Ends: s.ends, Keep: []string{}, Asks: []ask{}}
	if last {
		for id := range s.waiting { // the process stops, so no call waits any more
			b.Ends = append(b.Ends, ending{ID: id, Outcome: topicqueue.CallInterrupted})
		}
		return b, len(b.Ends) > 0
	}
	s.ends = nil
	b.all = !now.Before(s.look)
	for _, w := range s.waiting {
		if b.all || w.fresh {
			w.Patient = w.call.Waits(now)
			b.Asks = append(b.Asks, w.ask)
			w.fresh = false
		}
	}
	if b.all {
		for id := range s.held {
			b.Keep = append(b.Keep, id)
		}
		s.look = now
	}
	return b, len(b.Ends)+len(b.Asks)+len(b.Keep) > 0
}

// failed restores a batch that did not reach Redis, or whose reply was lost. The script is idempotent.
func (s *governed) failed(b batch, now time.Time) {
	s.ends = append(b.Ends, s.ends...)
	s.look = time.Time{}
	s.retry = min(max(2*s.retry, firstRetry), lastRetry)
	s.notBefore = now.Add(s.retry)
}

// next returns the time until the next message is due. renew is the interval at which permits are mentioned.
func (s *governed) next(renew time.Duration) time.Duration {
	var at time.Time
	switch {
	case len(s.ends) > 0:
	case len(s.waiting) > 0:
		at = s.look
	case len(s.held) > 0:
		at = s.look.Add(renew)
	default:
		return time.Hour
	}
	if at.Before(s.notBefore) {
		at = s.notBefore
	}
	return max(time.Until(at), 0)
}

// grant delivers a permit to its waiting call. If the call no longer waits, the permit is released.
func (s *governed) grant(p permit) {
	w, ok := s.waiting[p.id]
	if !ok {
		if _, ok := s.held[p.id]; !ok {
			s.ends = append(s.ends, ending{ID: p.id, Outcome: topicqueue.CallInterrupted})
		}
		return
	}
	delete(s.waiting, p.id)
	s.held[p.id] = held{call: w.call.ID, tokens: w.Tokens, epoch: p.epoch, answered: p.answered, inside: p.inside}
	w.granted <- nil
}

// permit is a permit as reported by the script.
type permit struct {
	id                      string
	epoch, answered, inside int
}

// parseMessage parses a message published by the script: key of the state, permit's id, epoch, answered, inside.
func parseMessage(payload string) (server string, p permit, ok bool) {
	var parts []any
	if json.Unmarshal([]byte(payload), &parts) != nil || len(parts) != 5 {
		return "", p, false
	}
	stateKey, ok1 := parts[0].(string)
	id, ok2 := parts[1].(string)
	_, rest, ok3 := strings.Cut(stateKey, "{gov:")
	server, _, ok4 := strings.Cut(rest, "}")
	var n [3]int
	for i, part := range parts[2:] {
		f, ok := part.(float64)
		if !ok || f < 0 || f > 1<<52 {
			return "", p, false
		}
		n[i] = int(f)
	}
	return server, permit{id, n[0], n[1], n[2]}, ok1 && ok2 && ok3 && ok4
}

func stateKey(server string) string { return lua.Prefix + "{gov:" + server + "}:state" }

// send runs the script on a batch and applies the reply.
func (g *Governor) send(ctx context.Context, s *governed, b batch, register bool) error {
	b.Process, b.Channel, b.Lease, b.Wait = g.process, channelPrefix, g.lease.Milliseconds(),
		(g.lease / renewals).Milliseconds()
	if b.Ends == nil {
		b.Ends = []ending{}
	}
	said, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode a batch of calls to %s: %w", s.host, err)
	}
	if register { // before its keys, so that every state can be found
		if err := g.rdb.HSet(ctx, hostsKey, s.id, s.host).Err(); err != nil {
			return fmt.Errorf("record the calls to %s in Redis: %w", s.host, err)
		}
	}
	values, err := speakScript.Run(ctx, g.rdb, []string{stateKey(s.id)}, said).Slice()
	if err != nil {
		return fmt.Errorf("govern the calls to %s in Redis: %w", s.host, err)
	}
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	s.registered, s.retry, s.notBefore = true, 0, time.Time{}
	grants, _ := values[0].([]any)
	for i := 0; i+3 < len(grants); i += 4 {
		s.grant(permit{lua.Text(grants, i), lua.Number(grants, i+1), lua.Number(grants, i+2), lua.Number(grants, i+3)})
	}
	refused, _ := values[1].([]any)
	for i := range refused {
		if w, ok := s.waiting[lua.Text(refused, i)]; ok {
			delete(s.waiting, w.ID)
			w.granted <- fmt.Errorf("%s: %w", s.host, topicqueue.ErrServerDown)
		}
	}
	verdicts, _ := values[2].([]any)
	for i, e := range b.Ends {
		if e.verdict != nil {
			e.verdict <- topicqueue.CallVerdict{Down: lua.Number(verdicts, 2*i) == 1, Queued: lua.Number(verdicts, 2*i+1) == 1}
		}
	}
	again := min(time.Duration(lua.Number(values, 3))*time.Millisecond, g.lease/looks)
	if len(s.waiting) > 0 {
		if at := now.Add(max(again, time.Millisecond)); b.all || at.Before(s.look) {
			s.look = at
		}
	}
	return nil
}
