package llm

import (
	"fmt"
	"sync"
	"time"
)

const outagePause = 30 * time.Second

// outage remembers that a server is down, so that only the first call pays for finding out. After outagePause one call
// at a time is let through as a probe; its success ends the outage.
//
// It belongs to one process. The governor will hold the same for all workers and replace it.
type outage struct {
	mu      sync.Mutex
	until   time.Time // zero = the server is up
	probing bool
	lastUp  time.Time // when it answered last
}

// What a call found out about the server.
type finding int

const (
	foundNothing finding = iota // the call was interrupted
	foundUp                     // any answer below 500
	foundLate                   // no answer in time
	foundDown                   // no connection or 5xx, all tries used up
)

// enter asks whether a call may begin. probe = it decides for all others, and should try only once.
// Every enter without an error is followed by one leave.
func (o *outage) enter() (probe bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.until.IsZero() {
		return false, nil
	}
	if wait := time.Until(o.until); wait > 0 {
		return false, fmt.Errorf("it was found down, next attempt in %s", wait.Round(time.Second))
	}
	if o.probing {
		return false, fmt.Errorf("it was found down, one call is finding out whether it still is")
	}
	o.probing = true
	return true, nil
}

// leave records what the call found that began at start. A server that has answered others since then is slow and not
// down: one long answer must not turn the rest away.
func (o *outage) leave(probe bool, found finding, start time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if probe {
		o.probing = false
	}
	switch found {
	case foundUp:
		o.until, o.lastUp = time.Time{}, time.Now()
	case foundLate:
		if !o.lastUp.After(start) {
			o.until = time.Now().Add(outagePause)
		}
	case foundDown:
		o.until = time.Now().Add(outagePause)
	}
}

// down reports whether calls are turned away now.
func (o *outage) down() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Now().Before(o.until)
}
