//go:build !unix

package sandbox

import "context"

func withMemory(ctx context.Context) context.Context { return ctx }
