//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
)

// NewBubblewrap fails: bubblewrap is for Linux, and its filter is written for amd64 and arm64.
func NewBubblewrap(context.Context, Limits) (Sandbox, error) {
	return nil, errors.New("bubblewrap works on Linux only, on amd64 and arm64")
}
