package wiring

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

// NoRoom reports whether an error means that a disk or the memory of Redis is full.
func NoRoom(err error) bool {
	if errors.Is(err, syscall.ENOSPC) {
		return true
	}
	said := strings.ToLower(err.Error())
	for _, text := range []string{"misconf", "oom command not allowed", "no space left on device", "disk is full",
		"disk i/o error"} {
		if strings.Contains(said, text) {
			return true
		}
	}
	return false
}

// WithRoom adds a hint to an error that means a full disk or memory. It returns other errors unchanged.
func WithRoom(cfg config.Config, err error) error {
	switch {
	case err == nil || !NoRoom(err):
		return err
	case strings.Contains(err.Error(), "OOM command"):
		return view.Hint(fmt.Errorf("the Redis at %s is full: %w", cfg.RedisURL, err),
			"Raise its maxmemory, or leave it unset, and run the command again.")
	case strings.Contains(err.Error(), "MISCONF") && cfg.RedisURL.Reveal() != "":
		return view.Hint(fmt.Errorf("the Redis at %s cannot write to its disk: %w", cfg.RedisURL, err),
			"Free space on that disk and run the command again.")
	}
	return view.Hint(fmt.Errorf("the disk is full: %w", err),
		fmt.Sprintf("Free space there, or choose a directory on another disk with --data-dir (now %s), and run the "+
			"command again.", cfg.DataDir))
}
