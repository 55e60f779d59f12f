//go:build !unix

package localredis

import "context"

// openServer returns ErrNotRunning, because redis-server runs on Unix systems only.
func openServer(context.Context, string, bool) (*Redis, error) { return nil, ErrNotRunning }
