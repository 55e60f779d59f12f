package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"nightdesk/cmd/nightdesk/localredis"
	"nightdesk/cmd/nightdesk/view"
)

// desk is a directory of its own in which this program runs, with a server and, if asked for, a Redis of its own.
type desk struct {
	*server
	dir     string
	program string
	env     []string
	redis   *localredis.Redis // nil: none is kept
	started []*process
}

// ours are the beginnings of variables that would change what is measured.
var ours = []string{"NIGHTDESK_", "LLM_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "EMBEDDING_", "REDIS_URL=",
	"STORAGE_URL=", "S3_", "AWS_", "SEARXNG_", "TAVILY_", "BRAVE_", "SERPER_", "EXA_", "MCP_", "SMTP_"}

// newDesk makes a desk. queue: it has a Redis. web: its topics are researched there.
func newDesk(ctx context.Context, s *server, queue, web bool) (d *desk, err error) {
	d = &desk{server: s}
	if d.program, err = os.Executable(); err != nil {
		return nil, err
	}
	if d.dir, err = os.MkdirTemp("", "nightdesk-bench-"); err != nil {
		return nil, err
	}
	for _, variable := range os.Environ() {
		mine := false
		for _, name := range ours {
			mine = mine || strings.HasPrefix(variable, name)
		}
		if !mine {
			d.env = append(d.env, variable)
		}
	}
	d.env = append(d.env, "NIGHTDESK_LOG_LEVEL=error", "NIGHTDESK_FETCH_ALLOW=127.0.0.0/8",
		"NIGHTDESK_FETCH_PER_HOST=10ms", "LLM_MODEL=bench", "LLM_BASE_URL="+s.url+"/v1")
	if web {
		d.env = append(d.env, "SEARXNG_URL="+s.url)
	}
	if queue {
		if d.redis, err = localredis.Open(ctx, d.data()); err != nil {
			return nil, errors.Join(err, d.close())
		}
		if d.redis.InProcess {
			return nil, errors.Join(view.Hint(errors.New("this scenario needs redis-server, which is not on PATH"),
				"Install it (Debian: redis-server), or measure `nightdesk bench single`."), d.close())
		}
	}
	return d, nil
}

func (d *desk) data() string { return filepath.Join(d.dir, "nightdesk-data") }

func (d *desk) close() error {
	err := d.server.close()
	for _, p := range d.started { // those that an error has left
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

// process is a command that was started.
type process struct {
	*exec.Cmd
	began    time.Time
	out, err bytes.Buffer
	peak     atomic.Int64 // resident bytes
	ended    chan struct{}
}

// start starts a command of this program, which ends with ctx.
func (d *desk) start(ctx context.Context, args ...string) (*process, error) {
	p := &process{Cmd: exec.CommandContext(ctx, d.program, args...), began: time.Now(), ended: make(chan struct{})}
	p.Args[0] = "nightdesk" // a test binary that is called so is this program, too
	p.Dir, p.Env, p.Stdout, p.Stderr = d.dir, d.env, &p.out, &p.err
	if err := p.Start(); err != nil {
		return nil, fmt.Errorf("start nightdesk %s: %w", strings.Join(args, " "), err)
	}
	d.started = append(d.started, p)
	go p.observe()
	return p, nil
}

// observe keeps the most memory that the process has had; 0 where the system does not tell.
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

// memory returns a figure of a process that runs, in bytes: VmRSS is now, VmHWM at most.
func (p *process) memory(figure string) int64 { return Resident(p.Process.Pid, figure) }

// Resident returns a figure of a process that runs, in bytes: VmRSS is now, VmHWM at most; 0 where the system has no
// /proc.
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

// usage is what a process took.
type usage struct {
	wall, cpu time.Duration
	memory    int64 // resident bytes at most
}

// wait waits for the end of a process.
func (p *process) wait() (usage, error) {
	err := p.Wait()
	close(p.ended)
	u := usage{time.Since(p.began), p.ProcessState.UserTime() + p.ProcessState.SystemTime(), p.peak.Load()}
	if err != nil {
		err = fmt.Errorf("nightdesk %s: %w\n%s", strings.Join(p.Args[1:], " "), err, strings.TrimSpace(p.err.String()))
	}
	return u, err
}

// stop asks a process to end and waits for it.
func (p *process) stop() (usage, error) {
	if err := p.Process.Signal(syscall.SIGTERM); err != nil { // a system where processes cannot be asked
		if err := p.Process.Kill(); err != nil {
			return usage{}, err
		}
	}
	u, err := p.wait()
	if p.ProcessState.ExitCode() < 0 { // it was asked before it listened
		return u, nil
	}
	return u, err
}

// do runs a command to its end and returns what it has printed.
func (d *desk) do(ctx context.Context, args ...string) (string, usage, error) {
	p, err := d.start(ctx, args...)
	if err != nil {
		return "", usage{}, err
	}
	u, err := p.wait()
	return p.out.String(), u, err
}

// enqueue puts so many topics into the batch "bench".
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

// bundles returns how many runs are in storage, whole.
func (d *desk) bundles() int {
	found, _ := filepath.Glob(filepath.Join(d.data(), "cache", "*", "manifest.json"))
	return len(found)
}

// finish waits until so many runs are in storage.
func (d *desk) finish(ctx context.Context, runs int, each func(done int)) error {
	for {
		done := d.bundles()
		each(done)
		if done >= runs {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond): // other processes are watched
		}
	}
}
