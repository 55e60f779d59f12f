// Package redistest gives each test its own Redis: a private redis-server on a unix socket if one is installed, and
// an in-process server.
package redistest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/proctest"
	"nightdesk/topicqueue/scaletest"
)

// Each runs a test against every kind of Redis: in-process, and redis-server if it is on PATH. In CI (environment
// variable CI set) a missing redis-server fails the test; otherwise that part is skipped. With the race detector only
// redis-server is used, because the in-process server spends its time in its interpreter of Lua.
func Each(t *testing.T, test func(t *testing.T, rdb *redis.Client)) {
	if _, err := exec.LookPath("redis-server"); err != nil || !scaletest.Race || scaletest.Full {
		t.Run("in-process", func(t *testing.T) {
			t.Parallel()
			test(t, InProcess(t))
		})
	}
	t.Run("redis-server", func(t *testing.T) {
		t.Parallel()
		test(t, Server(t))
	})
}

// InProcess starts an in-process Redis that ends with the test.
func InProcess(t testing.TB) *redis.Client {
	t.Helper()
	_, rdb := inProcess(t)
	return rdb
}

func inProcess(t testing.TB) (*miniredis.Miniredis, *redis.Client) {
	t.Helper()
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		t.Fatalf("start the in-process Redis: %v", err)
	}
	t.Cleanup(m.Close)
	return m, client(t, &redis.Options{Addr: m.Addr()})
}

// Server starts a private redis-server that ends with the test.
func Server(t testing.TB) *redis.Client {
	t.Helper()
	return client(t, &redis.Options{Network: "unix", Addr: Socket(t)})
}

// Socket starts a private redis-server that ends with the test and returns the path of its unix socket.
func Socket(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not on PATH; install it (Debian: redis-server)")
		}
		t.Skip("redis-server is not on PATH")
	}
	dir, err := os.MkdirTemp("", "r") // short, because a socket path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	sock := filepath.Join(dir, "s")
	cmd := exec.Command(path, "--port", "0", "--unixsocket", sock, "--save", "", "--appendonly", "no", "--dir", dir)
	proctest.Tie(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatalf("start redis-server: %v", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for deadline := time.Now().Add(scaletest.Patience); ; {
		conn, err := net.Dial("unix", sock)
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("redis-server does not answer: %v", err)
		}
		time.Sleep(5 * time.Millisecond) // there is no event to wait for
	}
	return sock
}

func client(t testing.TB, opt *redis.Options) *redis.Client {
	rdb := redis.NewClient(opt)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

// Jumping starts an in-process Redis that ends with the test. Its clock follows that of this machine. Each call of
// jump sets it forward and ages keys that expire by the same time.
func Jumping(t testing.TB) (rdb *redis.Client, jump func(time.Duration)) {
	t.Helper()
	m, rdb := inProcess(t)
	var ahead atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			m.SetTime(time.Now().Add(time.Duration(ahead.Load())))
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	return rdb, func(d time.Duration) {
		ahead.Add(int64(d))
		m.SetTime(time.Now().Add(time.Duration(ahead.Load())))
		m.FastForward(d)
	}
}
