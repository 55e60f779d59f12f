//go:build !unix

package localredis

import "context"

// openServer returns errNoServer, because redis-server runs on Unix systems only.
func openServer(context.Context, string, bool) (*Redis, error) { return nil, errNoServer }
