package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	probeKey  = "cache/writable"
	probeTime = 15 * time.Second
)

// Check tests within 15 s that a store is writable: it stores the key cache/writable, reads it back and lists it. Run
// it at start, so that a faulty store is found before the work is done.
func Check(ctx context.Context, s Store) error {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTime, fmt.Errorf("no success within %s", probeTime))
	defer cancel()
	advice := "check STORAGE_URL"
	if bucket, ok := s.(*S3); ok {
		advice += " and " + bucket.endpoint
		s = bucket.impatient()
	}
	body := []byte("nightdesk writes here\n")
	if err := s.Put(ctx, probeKey, body); err != nil {
		return err
	}
	got, err := s.Get(ctx, probeKey)
	if err != nil && !errors.Is(err, ErrNotExist) {
		return err
	}
	if err != nil || !bytes.Equal(got, body) {
		return fmt.Errorf("%s does not contain what was just stored there: %s", s.Location(probeKey), advice)
	}
	keys, err := s.List(ctx, probeKey)
	if err != nil {
		return err
	}
	if !slices.Contains(keys, probeKey) {
		return fmt.Errorf("%s is not listed although it was just stored: %s", s.Location(probeKey), advice)
	}
	return nil
}

// CheckRead tests that a store is readable. It writes nothing.
func CheckRead(ctx context.Context, s Store) error {
	if bucket, ok := s.(*S3); ok {
		s = bucket.impatient()
	}
	_, err := s.Exists(ctx, probeKey)
	return err
}
