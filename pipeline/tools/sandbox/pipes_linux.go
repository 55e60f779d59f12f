//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
)

// pipe is a pipe between this process and a program.
type pipe struct{ r, w *os.File }

type pipes []*pipe

func newPipes(n int) (pipes, error) {
	var all pipes
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			all.close()
			return nil, err
		}
		all = append(all, &pipe{r, w})
	}
	return all, nil
}

func (p *pipe) closeReader() { closeOnce(p.r) }
func (p *pipe) closeWriter() { closeOnce(p.w) }

func (all pipes) close() {
	for _, p := range all {
		p.closeReader()
		p.closeWriter()
	}
}

// closeOnce closes a pipe end that may already be closed. The error does not matter.
func closeOnce(f *os.File) {
	_ = f.Close()
}
