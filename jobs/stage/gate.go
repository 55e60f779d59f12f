package stage

import "sync"

// gate admits operations until it is closed, and then signals when all admitted operations have ended. A worker has one
// for its attempts, an attempt one for its calls. A stopping worker or a paused run begins no new call, but calls in
// flight end and their results are kept.
type gate struct {
	mu     sync.Mutex
	closed error         // why the gate is closed; nil while it is open
	flying int           // number of operations in progress
	landed chan struct{} // closed when the gate is closed and nothing is in progress
}

func newGate() *gate { return &gate{landed: make(chan struct{})} }

// enter admits an operation. It returns false if the gate is closed.
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

// close closes the gate: no more operations begin.
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
