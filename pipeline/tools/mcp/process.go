package mcp

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"nightdesk/topicqueue"
)

// process is a server run as a program.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	said   *tail
	exited chan struct{}
	kill   func() error
}

func begin(s Settings) (*process, error) {
	p := &process{cmd: exec.Command(s.Command[0], s.Command[1:]...), said: &tail{}, exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Stderr, p.cmd.WaitDelay = environment(s.Env), p.said, endTime
	p.kill = ownGroup(p.cmd)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Use a separate pipe, because Wait closes the command's own pipe before its last output is read.
	out, w := io.Pipe()
	p.out, p.cmd.Stdout = out, w
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		err := p.cmd.Wait()
		if err == nil {
			err = io.EOF
		}
		w.CloseWithError(err)
		close(p.exited)
	}()
	return p, nil
}

// environment returns the environment of a server: a few variables of this process, and the given variables. It leaves
// out the keys of models and services.
func environment(variables []string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ", "SystemRoot"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, variables...)
}

// why returns the last line of the program's standard error.
func (p *process) why() string {
	select {
	case <-p.exited:
	case <-time.After(100 * time.Millisecond): // the program may be about to exit
	}
	return p.said.line()
}

// end closes the program's input and output, and kills it if it does not exit in time.
func (p *process) end() {
	_ = p.in.Close()
	_ = p.out.Close()
	select {
	case <-p.exited:
	case <-time.After(endTime):
		_ = p.kill()
		<-p.exited
	}
}

// tail keeps the end of its input.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-2000):]
	return len(p), nil
}

func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.kept))
	return topicqueue.Clip(topicqueue.OneLine(text[strings.LastIndexByte(text, '\n')+1:]), 300)
}
