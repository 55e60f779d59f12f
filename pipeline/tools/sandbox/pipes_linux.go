//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
)

// pipe is one pipe between this process and a program.
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

// closeOnce closes a pipe's end, which may have been closed: there is nothing to lose in it.
func closeOnce(f *os.File) {
	_ = f.Close()
}
