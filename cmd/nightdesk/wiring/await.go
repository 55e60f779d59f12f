package wiring

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/storage"
	"nightdesk/topicqueue/retry"
)

// awaitPause is the interval between two messages about an unavailable service.
const awaitPause = 5 * time.Second

// await calls try every second until it succeeds or fails with a lasting error. what: the name of the service for
// messages.
func await(ctx context.Context, con *view.Console, what string, lasting func(error) bool,
	try func(context.Context) error) error {
	var told time.Time
	for {
		err := try(ctx)
		switch {
		case err == nil:
			if !told.IsZero() {
				con.Say("%s can be used now", what)
			}
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case lasting(err):
			return err
		}
		if time.Since(told) >= awaitPause {
			told = time.Now()
			con.Warn("waiting for %s: %v", what, err)
		}
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// wrongAddress reports whether err is about the name or the certificate of a server.
func wrongAddress(err error) bool {
	var (
		name      *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		cert      *tls.CertificateVerificationError
	)
	if errors.As(err, &name) {
		return name.IsNotFound
	}
	return errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &cert) ||
		errors.Is(err, http.ErrSchemeMismatch)
}

// lastingStorage reports whether waiting cannot resolve a storage error.
func lastingStorage(err error) bool { return wrongAddress(err) || !errors.Is(err, storage.ErrAway) }

// lastingRedis reports whether waiting cannot resolve a Redis error: rejected credentials, a missing database or
// master, or another kind of server.
func lastingRedis(err error) bool {
	if wrongAddress(err) || redis.IsAuthError(err) || redis.IsPermissionError(err) || errors.Is(err, redis.Nil) {
		return true
	}
	for _, text := range []string{"DB index", "redis: can't parse", "redis: invalid reply"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}
