package wiring

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/localredis"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/shared"
)

// Desk holds the Redis connection of a process and the adapters that use it.
type Desk struct {
	Redis      redis.UniversalClient // shared by asynq and our queue
	InMemory   bool                  // Redis runs in this process
	Queue      *redisqueue.Queue
	Clock      *shared.Clock
	Dispatcher *tasks.Dispatcher
	closers    []func() error
}

// Close closes the resources in reverse order of opening.
func (d *Desk) Close() error {
	var errs []error
	for i := len(d.closers) - 1; i >= 0; i-- {
		errs = append(errs, d.closers[i]())
	}
	return errors.Join(errs...)
}

// Opening says how a desk is opened.
type Opening int

// Ways to open a desk.
const (
	Attach    Opening = iota // Redis must respond; a service waits until it does
	Start                    // the same, but a local Redis is started if there is none
	Unchecked                // the caller waits for Redis: see AwaitUsable
)

// OpenDesk connects to the configured Redis, or to the local one in the data directory.
func OpenDesk(ctx context.Context, cfg config.Config, con *view.Console, how Opening) (*Desk, error) {
	d := &Desk{}
	switch {
	case cfg.RedisURL.Reveal() != "":
		options, err := config.RedisOptions(cfg.RedisURL.Reveal())
		if err != nil {
			return nil, view.Usage(fmt.Errorf("redis_url %s: it %w", cfg.RedisURL, err))
		}
		client := newRedisClient(options)
		if how != Unchecked {
			err = pingRedis(ctx, cfg, con, client)
		}
		if err != nil {
			_ = client.Close() // the first error is more useful
			return nil, err
		}
		d.Redis, d.closers = client, append(d.closers, client.Close)
	case how == Start:
		r, err := localredis.Open(ctx, cfg.DataDir)
		if err != nil {
			return nil, err
		}
		if r.InProcess {
			con.Say("no REDIS_URL and no redis-server on PATH: the queue lives in this process and ends with it")
		} else {
			con.Say("REDIS_URL is not set: using a private redis-server in %s", filepath.Join(cfg.DataDir, "redis"))
		}
		d.Redis, d.InMemory, d.closers = r.Client, r.InProcess, append(d.closers, r.Close)
	default:
		r, err := localredis.Attach(ctx, cfg.DataDir)
		if errors.Is(err, localredis.ErrNotRunning) {
			return nil, view.Usage(view.Hint(noQueueError{},
				"Start Redis and set REDIS_URL, for example to redis://127.0.0.1:6379/0, or use `nightdesk run`."))
		}
		if err != nil {
			return nil, err
		}
		d.Redis, d.closers = r.Client, append(d.closers, r.Close)
	}
	d.Clock = shared.StartClock(ctx, d.Redis)
	d.closers = append(d.closers, d.Clock.Close)
	d.Queue, d.Dispatcher = redisqueue.New(d.Redis, redisqueue.DefaultTiming),
		tasks.NewDispatcher(asynq.NewClientFromRedisClient(d.Redis), asynq.NewInspectorFromRedisClient(d.Redis))
	return d, nil
}

// dialTime is the timeout for the first response.
const dialTime = 5 * time.Second

// pingRedis checks that the configured Redis responds. A service waits until it does.
func pingRedis(ctx context.Context, cfg config.Config, con *view.Console, client redis.UniversalClient) error {
	ping := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, dialTime)
		defer cancel()
		if err := client.Ping(ctx).Err(); err != nil {
			return view.Hint(fmt.Errorf("the Redis at %s does not answer: %w", cfg.RedisURL, err), redisHint(err))
		}
		return nil
	}
	if con.Service == "" {
		return ping(ctx)
	}
	return await(ctx, con, "Redis", lastingRedis, ping)
}

// clusterLook is the maximum time that a cluster client uses outdated node addresses after a failover. Nothing else
// tells it about a failover.
const clusterLook = 3 * time.Second

func newRedisClient(options *redis.UniversalOptions) redis.UniversalClient {
	if !options.IsClusterMode {
		return redis.NewUniversalClient(options)
	}
	cluster := options.Cluster()
	cluster.ClusterStateReloadInterval = clusterLook
	return redis.NewClusterClient(cluster)
}

// redisHint returns advice for a Redis connection error.
func redisHint(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case redis.IsLoadingError(err):
		return "It is reading its data back after a start: try again in a moment."
	case errors.As(err, &unknown):
		return "Add the certificate of its certificate authority to those of the system, or its folder to SSL_CERT_DIR."
	case errors.As(err, &name):
		return "Use a host name that stands in the certificate of the server."
	case redis.IsAuthError(err), redis.IsPermissionError(err):
		return "Correct user and password in REDIS_URL: redis://user:password@host:6379/0, percent-encoded. A " +
			"user needs all keys, all channels and all commands except administration."
	}
	return "Start it there, or correct REDIS_URL; unset, `nightdesk run` brings a Redis of its own."
}

// AwaitUsable waits until Redis and storage are usable. It returns an error only if waiting does not help.
func AwaitUsable(ctx context.Context, cfg config.Config, con *view.Console, d *Desk, store storage.Store) error {
	if err := pingRedis(ctx, cfg, con, d.Redis); err != nil {
		return err
	}
	return await(ctx, con, "the storage", lastingStorage, func(ctx context.Context) error { return readStore(ctx, store) })
}

// noQueueError means that no Redis is configured or running.
type noQueueError struct{}

func (noQueueError) Error() string { return "REDIS_URL is not set, so there is no queue" }

func IsNoQueue(err error) bool { return errors.As(err, new(noQueueError)) }
