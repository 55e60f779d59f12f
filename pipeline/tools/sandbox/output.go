package sandbox

import (
	"bytes"
	"strings"
	"sync"
)

// capped keeps the first limit bytes that are written and calls full once when there are more. It takes everything:
// a program that met an error here could go on writing.
type capped struct {
	limit int
	full  func()
	mu    sync.Mutex
	buf   bytes.Buffer
	over  bool
}

func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.limit - c.buf.Len()
	if len(p) > room && !c.over {
		c.over = true
		c.full()
	}
	c.buf.Write(p[:min(len(p), room)])
	return len(p), nil
}

func (c *capped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.String()
}

// outOfMemory reports whether a traceback ends with Python's own word for it.
func outOfMemory(stderr string) bool {
	stderr = strings.TrimRight(stderr, "\n")
	last := stderr[strings.LastIndexByte(stderr, '\n')+1:]
	return strings.HasPrefix(last, "MemoryError") || strings.Contains(last, "_ArrayMemoryError")
}
