// Package localredis provides a Redis on a machine without one. If redis-server is installed, it runs a private server
// in the data directory. Several processes share it, and the last one stops it. Otherwise it runs a Redis inside this
// process.
package localredis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// ErrNotRunning means that no nightdesk process runs a Redis in this data directory, and that none can be started.
var ErrNotRunning = errors.New("no Redis is running in this data directory")

// Redis is a connection to the local Redis.
type Redis struct {
	Client *redis.Client
	// InProcess is set if there is no redis-server on this machine. Other processes cannot reach the queue, and it is
	// lost when this process ends.
	InProcess bool
	close     func() error
}

// Close releases the Redis. A redis-server without other users is stopped; its data stays in the data directory.
func (r *Redis) Close() error { return errors.Join(r.Client.Close(), r.close()) }

// Open connects to the redis-server of this data directory, and starts it if necessary. Without a redis-server program,
// it starts a Redis inside this process.
func Open(ctx context.Context, dataDir string) (*Redis, error) {
	r, err := openServer(ctx, dataDir, true)
	if !errors.Is(err, ErrNotRunning) {
		return r, err
	}
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		return nil, fmt.Errorf("start Redis in this process: %w", err)
	}
	return &Redis{
		Client: redis.NewClient(&redis.Options{Addr: m.Addr()}), InProcess: true,
		close: func() error { m.Close(); return nil },
	}, nil
}

// Attach connects to the redis-server that other processes use in this data directory. It returns ErrNotRunning if
// there is none.
func Attach(ctx context.Context, dataDir string) (*Redis, error) {
	return openServer(ctx, dataDir, false)
}

// maxSocketPath is a length in bytes that every system accepts for the path of a Unix socket.
const maxSocketPath = 100

// socketPath returns the path of the directory's socket: in the directory, or below the temporary directory if that
// path would be too long.
func socketPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if path := filepath.Join(abs, "redis.sock"); len(path) <= maxSocketPath {
		return path, nil
	}
	sum := sha256.Sum256([]byte(abs))
	short := filepath.Join(os.TempDir(), fmt.Sprintf("nightdesk-%d-%s", os.Getuid(), hex.EncodeToString(sum[:6])))
	if err := os.MkdirAll(short, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(short)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("%s is not a directory of our own; remove it or set REDIS_URL", short)
	}
	return filepath.Join(short, "redis.sock"), nil
}

// alive reports whether a Redis answers on this socket.
func alive(ctx context.Context, sock string) bool {
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: sock, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: time.Second})
	defer c.Close()
	return c.Ping(ctx).Err() == nil
}
