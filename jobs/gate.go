package jobs

import "sync"

// gate lets things begin, or not any more, and knows when those that began have ended. A worker has one for its
// attempts, an attempt one for its calls: a stopping worker and a paused run begin no new call, and what is in flight
// ends and is kept.
type gate struct {
	mu     sync.Mutex
	closed error         // why nothing may begin; nil while it may
	flying int           // what has begun and not ended
	landed chan struct{} // closed when closed is set and nothing is in flight
}

func newGate() *gate { return &gate{landed: make(chan struct{})} }

// enter takes a place. false: nothing begins any more.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		return false
	}
	g.flying++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flying--; g.flying == 0 && g.closed != nil {
		close(g.landed)
	}
}

// close lets nothing begin any more.
func (g *gate) close(cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = cause
		if g.flying == 0 {
			close(g.landed)
		}
	}
}

func (g *gate) cause() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}
