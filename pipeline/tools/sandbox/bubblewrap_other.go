//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
)

// NewBubblewrap always fails, because bubblewrap needs Linux and the filter supports only amd64 and arm64.
func NewBubblewrap(context.Context, Limits) (Sandbox, error) {
	return nil, errors.New("bubblewrap works on Linux only, on amd64 and arm64")
}
