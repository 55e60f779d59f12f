//go:build unix

package localredis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/retry"
)

// startTime limits the startup of a redis-server, which first reads its append-only file.
const startTime = time.Minute

// openServer connects to the directory's redis-server. If start is set, it starts the server when necessary.
//
// Two locks coordinate processes. Users of the server hold users.lock (shared). A process holds start.lock (exclusive)
// while it checks whether the server runs, starts it, or stops it. The system releases the locks when a process ends in
// any way. If the last user of a server was killed, the server runs until the next user leaves.
func openServer(ctx context.Context, dataDir string, start bool) (*Redis, error) {
	dir := filepath.Join(dataDir, "redis")
	if _, err := os.Stat(dir); err != nil && !start {
		return nil, ErrNotRunning
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create a directory for Redis: %w", err)
	}
	sock, err := socketPath(dir)
	if err != nil {
		return nil, fmt.Errorf("find a directory for the socket of Redis: %w", err)
	}
	starting, err := lock(filepath.Join(dir, "start.lock"), syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer starting.Close()
	if !alive(ctx, sock) {
		program := findServer()
		if program == "" || !start {
			return nil, ErrNotRunning
		}
		if err := startServer(ctx, program, dir, sock); err != nil {
			return nil, err
		}
	}
	users, err := lock(filepath.Join(dir, "users.lock"), syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	return &Redis{
		Client: redis.NewClient(&redis.Options{Network: "unix", Addr: sock}),
		close:  func() error { return leave(dir, sock, users) },
	}, nil
}

func findServer() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startServer starts the server and waits until it answers. The server gets its own session, so that a key press on
// this terminal does not end it while others use it.
func startServer(ctx context.Context, program, dir, sock string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "--port", "0", "--unixsocket", sock, "--unixsocketperm", "700", "--dir", abs,
		"--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction",
		"--logfile", filepath.Join(abs, "redis.log"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for !alive(ctx, sock) {
		select {
		case err := <-ended:
			return fmt.Errorf("%s exited at once (%v); see %s", program, err, filepath.Join(dir, "redis.log"))
		case <-ctx.Done():
			cmd.Process.Kill()
			return fmt.Errorf("%s does not answer: %w; see %s", program, context.Cause(ctx), filepath.Join(dir, "redis.log"))
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// leave ends this process's use of the server, and stops the server if there are no other users.
func leave(dir, sock string, users *os.File) error {
	starting, err := lock(filepath.Join(dir, "start.lock"), syscall.LOCK_EX)
	if err != nil {
		return errors.Join(err, users.Close())
	}
	defer starting.Close()
	defer users.Close()
	// No process can attach meanwhile, because that requires start.lock.
	if err := syscall.Flock(int(users.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil // others use it
	}
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: sock, MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	c.Shutdown(ctx) // the server answers by closing the connection
	for alive(ctx, sock) {
		if retry.Sleep(ctx, 10*time.Millisecond) != nil {
			return fmt.Errorf("stop the redis-server in %s: it still answers", dir)
		}
	}
	return nil
}

func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
