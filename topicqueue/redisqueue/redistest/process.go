package redistest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nightdesk/topicqueue/proctest"
	"nightdesk/topicqueue/scaletest"
)

// Process is a private redis-server for tests that need more than Server offers: TLS, sentinels, clusters, restarts.
type Process struct {
	Port string // on 127.0.0.1
	Dir  string // its working directory

	t    testing.TB
	args []string
	cmd  *exec.Cmd
}

// Start starts a redis-server with exactly these arguments, replacing PORT with a free port, and waits until it
// accepts connections. It ends with the test.
func Start(t testing.TB, args ...string) *Process {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not on PATH; install it (Debian: redis-server)")
		}
		t.Skip("redis-server is not on PATH")
	}
	p := &Process{Dir: t.TempDir(), t: t}
	t.Cleanup(func() { p.End(syscall.SIGKILL) })
	var err error
	for range 20 { // another program may take the port before the server starts
		p.Port, p.args = freePort(t), nil
		for _, a := range args {
			p.args = append(p.args, strings.ReplaceAll(a, "PORT", p.Port))
		}
		if err = p.begin(); err == nil {
			return p
		}
	}
	t.Fatal(err)
	return nil
}

// freePort returns a free port. The port 10,000 above, on which a cluster node also listens, is free too. Both are
// below the ephemeral ports, so that no outgoing connection takes them while the server restarts.
func freePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := 10_000 + rand.IntN(12_000)
		free := true
		for _, p := range []int{port, port + 10_000} {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
			if err != nil {
				free = false
				continue
			}
			l.Close()
		}
		if free {
			return strconv.Itoa(port)
		}
	}
	t.Fatal("there is no free port for redis-server")
	return ""
}

// Addr returns host:port.
func (p *Process) Addr() string { return net.JoinHostPort("127.0.0.1", p.Port) }

// Begin restarts a server that has ended, in the same directory and on the same port. It waits until the server has
// read its data and accepts connections.
func (p *Process) Begin() {
	p.t.Helper()
	// Another program may use the port for a moment.
	for deadline := time.Now().Add(scaletest.Patience); ; time.Sleep(50 * time.Millisecond) {
		err := p.begin()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatal(err)
		}
	}
}

// begin starts the server and reads its log until the server accepts connections or ends.
func (p *Process) begin() error {
	cmd := exec.Command("redis-server", p.args...)
	cmd.Dir = p.Dir
	proctest.Tie(cmd)
	out, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	w.Close()
	if err != nil {
		out.Close()
		return fmt.Errorf("start redis-server: %w", err)
	}
	ready := make(chan string, 1) // empty, or the log of a server that ended
	go func() {
		defer out.Close()
		var log strings.Builder
		up := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if line := lines.Text(); !up && (strings.Contains(line, "Ready to accept connections") ||
				strings.Contains(line, "Sentinel ID is")) {
				up = true
				ready <- ""
			} else if !up {
				log.WriteString("\n" + line)
			}
		}
		if !up {
			ready <- log.String() + "\n"
		}
	}()
	select {
	case log := <-ready:
		if log != "" {
			_ = cmd.Wait() // the log has the reason
			return fmt.Errorf("redis-server %s has ended: %s", strings.Join(p.args, " "), log)
		}
	case <-time.After(scaletest.Patience):
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		return fmt.Errorf("redis-server %s does not say that it takes connections", strings.Join(p.args, " "))
	}
	p.cmd = cmd
	return nil
}

// Signal sends the server a signal that does not terminate it, such as SIGSTOP or SIGCONT.
func (p *Process) Signal(signal syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Fatalf("send redis-server %v: %v", signal, err)
	}
}

// End sends the server a signal and waits until it has ended.
func (p *Process) End(signal syscall.Signal) {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(signal) // it may have ended already
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}
