package redistest

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a redis-server of a test's own, for tests of what a plain private one has not: TLS, sentinels, clusters,
// restarts.
type Process struct {
	Port string // on 127.0.0.1
	Dir  string // its working directory

	t    testing.TB
	args []string
	cmd  *exec.Cmd
}

// Start starts a redis-server with exactly these arguments, in which PORT stands for a free port, and waits until it
// takes connections. It ends with the test.
func Start(t testing.TB, args ...string) *Process {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not on PATH; install it (Debian: redis-server)")
		}
		t.Skip("redis-server is not on PATH")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	p := &Process{Port: port, Dir: t.TempDir(), t: t}
	for _, a := range args {
		p.args = append(p.args, strings.ReplaceAll(a, "PORT", port))
	}
	t.Cleanup(func() { p.End(syscall.SIGKILL) })
	p.Begin()
	return p
}

// Addr returns host:port.
func (p *Process) Addr() string { return net.JoinHostPort("127.0.0.1", p.Port) }

// Begin starts a server that was ended again, in the same directory and on the same port.
func (p *Process) Begin() {
	p.t.Helper()
	p.cmd = exec.Command("redis-server", p.args...)
	p.cmd.Dir = p.Dir
	if err := p.cmd.Start(); err != nil {
		p.t.Fatalf("start redis-server: %v", err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := net.Dial("tcp", p.Addr())
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("redis-server %s does not answer: %v", strings.Join(p.args, " "), err)
		}
		time.Sleep(5 * time.Millisecond) // there is no event to wait for
	}
}

// Signal sends the server a signal that does not end it: SIGSTOP, SIGCONT.
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
