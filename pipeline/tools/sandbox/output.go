package sandbox

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// capped keeps the first limit bytes of its input, and calls full once if there are more. Write never fails, because a
// program could handle an error and go on writing.
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

// outOfMemory reports whether a traceback ends with Python's memory error.
func outOfMemory(stderr string) bool {
	stderr = strings.TrimRight(stderr, "\n")
	last := stderr[strings.LastIndexByte(stderr, '\n')+1:]
	return strings.HasPrefix(last, "MemoryError")
}

// drawings reads the drawings that follow the mark on standard error: for each, its name and its content after a NUL.
// A program can forge them, as it can draw anything.
func drawings(text string) (files []File) {
	for part := range slices.Chunk(strings.Split(text, "\x00")[1:], 2) {
		if len(part) == 2 && len(part[1]) <= maxFigureBytes && len(files) < maxFigures {
			files = append(files, File{Name: part[0], Body: []byte(part[1])})
		}
	}
	return files
}
