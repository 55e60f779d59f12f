package benchtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"nightdesk/cmd/nightdesk/localredis"
	"nightdesk/config"
)

// desk is a separate directory in which this program runs, with its own server and optionally its own Redis.
type desk struct {
	*server
	dir     string
	program string
	env     []string
	redis   *localredis.Redis // nil: none
	started []*process
}

// ours are prefixes of environment variables, besides those of the settings, that would affect the measurement.
var ours = []string{"NIGHTDESK_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "AWS_", "MCP_"}

// affects reports whether an environment variable, as NAME=value, would affect the measurement.
func affects(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.ContainsFunc(config.Settings(), func(s config.Setting) bool { return s.Env == name }) ||
		slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// newDesk creates a desk. program is the path of nightdesk, queue adds a Redis, web enables web search.
func newDesk(ctx context.Context, program string, s *server, queue, web bool) (d *desk, err error) {
	d = &desk{server: s, program: program}
	if d.dir, err = os.MkdirTemp("", "nightdesk-bench-"); err != nil {
		return nil, err
	}
	d.env = slices.DeleteFunc(os.Environ(), affects)
	d.env = append(d.env, "NIGHTDESK_LOG_LEVEL=error", "NIGHTDESK_FETCH_ALLOW=127.0.0.0/8",
		"LLM_MODEL=bench", "LLM_BASE_URL="+s.url+"/v1")
	if web {
		d.env = append(d.env, "SEARXNG_URL="+s.url)
	}
	if queue {
		if d.redis, err = localredis.Open(ctx, d.data()); err != nil {
			return nil, errors.Join(err, d.close())
		}
		if d.redis.InProcess {
			return nil, errors.Join(errors.New("this scenario needs redis-server, which is not on PATH"), d.close())
		}
	}
	return d, nil
}

func (d *desk) data() string { return filepath.Join(d.dir, "nightdesk-data") }

func (d *desk) close() error {
	err := d.server.close()
	for _, p := range d.started { // still running after an error
		select {
		case <-p.ended:
		default:
			_ = p.Process.Kill()
			_, _ = p.wait()
		}
	}
	if d.redis != nil {
		err = errors.Join(err, d.redis.Close())
	}
	return errors.Join(err, os.RemoveAll(d.dir))
}

// process is a started command.
type process struct {
	*exec.Cmd
	began    time.Time
	out, err bytes.Buffer
	peak     atomic.Int64 // resident bytes
	ended    chan struct{}
}

// start starts a command of this program. The process is killed when ctx ends.
func (d *desk) start(ctx context.Context, args ...string) (*process, error) {
	p := &process{Cmd: exec.CommandContext(ctx, d.program, args...), began: time.Now(), ended: make(chan struct{})}
	p.Args[0] = "nightdesk" // a test binary with this name also acts as the program
	p.Dir, p.Env, p.Stdout, p.Stderr = d.dir, d.env, &p.out, &p.err
	if err := p.Start(); err != nil {
		return nil, fmt.Errorf("start nightdesk %s: %w", strings.Join(args, " "), err)
	}
	d.started = append(d.started, p)
	go p.observe()
	return p, nil
}

// observe records the peak memory of the process; it stays 0 on systems without /proc.
func (p *process) observe() {
	for {
		p.peak.Store(max(p.peak.Load(), p.memory("VmHWM")))
		select {
		case <-p.ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// memory returns a memory figure of a running process in bytes: VmRSS is the current value, VmHWM the peak.
func (p *process) memory(figure string) int64 { return Resident(p.Process.Pid, figure) }

// Resident returns a memory figure of a running process in bytes: VmRSS is the current value, VmHWM the peak. It
// returns 0 on systems without /proc.
func Resident(pid int, figure string) int64 {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == figure+":" {
			kb, _ := strconv.ParseInt(fields[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// usage is the time and memory that a process used.
type usage struct {
	wall, cpu time.Duration
	memory    int64 // peak resident bytes
}

// wait waits until a process ends.
func (p *process) wait() (usage, error) {
	err := p.Wait()
	close(p.ended)
	u := usage{time.Since(p.began), p.ProcessState.UserTime() + p.ProcessState.SystemTime(), p.peak.Load()}
	if err != nil {
		err = fmt.Errorf("nightdesk %s: %w\n%s", strings.Join(p.Args[1:], " "), err, strings.TrimSpace(p.err.String()))
	}
	return u, err
}

// stop sends SIGTERM to a process and waits until it ends.
func (p *process) stop() (usage, error) {
	if err := p.Process.Signal(syscall.SIGTERM); err != nil { // this system has no SIGTERM
		if err := p.Process.Kill(); err != nil {
			return usage{}, err
		}
	}
	u, err := p.wait()
	if p.ProcessState.ExitCode() < 0 { // signalled before it installed its handler
		return u, nil
	}
	return u, err
}

// do runs a command to its end and returns its output.
func (d *desk) do(ctx context.Context, args ...string) (string, usage, error) {
	p, err := d.start(ctx, args...)
	if err != nil {
		return "", usage{}, err
	}
	u, err := p.wait()
	return p.out.String(), u, err
}

// enqueue puts a number of topics into the batch "bench".
func (d *desk) enqueue(ctx context.Context, topics int, args ...string) (usage, error) {
	var list strings.Builder
	for i := range topics {
		list.WriteString(Topic(i) + "\n")
	}
	if err := os.WriteFile(filepath.Join(d.dir, "topics.txt"), []byte(list.String()), 0o600); err != nil {
		return usage{}, err
	}
	_, u, err := d.do(ctx, append([]string{"enqueue", "topics.txt", "--batch", "bench"}, args...)...)
	return u, err
}

// bundles returns the number of complete bundles in storage.
func (d *desk) bundles() int {
	found, _ := filepath.Glob(filepath.Join(d.data(), "cache", "*", "manifest.json"))
	return len(found)
}

// finish waits until a number of runs are in storage.
func (d *desk) finish(ctx context.Context, runs int) error {
	for {
		done := d.bundles()
		if done >= runs {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond): // poll: other processes do the work
		}
	}
}
