package llm

import (
	"context"
	"sync"
)

// crowd limits the calls that are with one server at a time, once they have been too many for it. A server on a small
// machine answers them one after the other, so that the last ones run into their timeout while they queue; here a call
// waits without its time running.
//
// It belongs to one process, as outage does.
type crowd struct {
	mu       sync.Mutex
	limit    int // 0 = none is known
	inside   int
	waiting  []chan struct{} // in order of arrival; closed when the call may go in
	answered int             // calls, ever
	since    int             // calls answered since the limit was last changed
}

const (
	raiseAfter = 10 // answered calls per place before one place is added
	mostPlaces = 64 // above this the limit is lifted
)

// visit is one try at a server.
type visit struct {
	answered int // calls that the server had answered before it
	inside   int // calls that were inside with it, itself included
}

// enter waits for a place. false: ctx has ended; there is nothing to leave.
func (c *crowd) enter(ctx context.Context) (visit, bool) {
	c.mu.Lock()
	if c.limit == 0 || c.inside < c.limit && len(c.waiting) == 0 {
		c.inside++
		v := visit{c.answered, c.inside}
		c.mu.Unlock()
		return v, true
	}
	turn := make(chan struct{})
	c.waiting = append(c.waiting, turn)
	c.mu.Unlock()
	select {
	case <-turn:
		c.mu.Lock()
		defer c.mu.Unlock()
		return visit{c.answered, c.inside}, true
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range c.waiting {
		if w == turn {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			return visit{}, false
		}
	}
	c.inside-- // the turn came at the same moment
	c.admit()
	return visit{}, false
}

// leave gives the place back. answered: the server did its work. late: it did not within the time of a try; then it
// can take as many calls at a time as it has answered within that time, unless that is as many as there were.
// queued: it was late because others were served first, which says nothing about this call.
func (c *crowd) leave(v visit, answered, late bool) (queued bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	meanwhile, most := c.answered-v.answered, max(v.inside, c.inside)
	switch {
	case late && most > 1 && meanwhile < most:
		if c.limit == 0 || meanwhile < c.limit {
			c.limit, c.since = max(1, meanwhile), 0
		}
		queued = meanwhile > 0
	case answered:
		c.answered++
		if c.since++; c.limit > 0 && c.since >= raiseAfter*c.limit {
			if c.limit, c.since = c.limit+1, 0; c.limit > mostPlaces {
				c.limit = 0
			}
		}
	}
	c.inside--
	c.admit()
	return queued
}

// admit lets in those that have a place now.
func (c *crowd) admit() {
	for len(c.waiting) > 0 && (c.limit == 0 || c.inside < c.limit) {
		c.inside++
		close(c.waiting[0])
		c.waiting = c.waiting[1:]
	}
}
