package storage_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"nightdesk/storage"
)

// long is a large body.
var long = bytes.Repeat([]byte("0123456789abcdef"), 18<<20/16)

// absent checks that nothing is visible under any key.
func absent(t *testing.T, s storage.Store) {
	t.Helper()
	if keys, err := s.List(t.Context(), ""); err != nil || len(keys) != 0 {
		t.Errorf("List = %v, %v; want nothing visible", keys, err)
	}
}

func TestS3UploadSurvivesTrouble(t *testing.T) {
	t.Parallel()
	short := bytes.Repeat([]byte("x"), 300<<10)
	for name, test := range map[string]struct {
		body  []byte
		match func(*http.Request) bool
		spoil spoil
	}{
		"overloaded":            {short, method("PUT"), firstly(3, answer(503, "SlowDown", "reduce your request rate"))},
		"too many requests":     {short, method("PUT"), firstly(3, answer(429, "TooManyRequests", "slow down"))},
		"server in trouble":     {short, method("PUT"), firstly(3, answer(500, "InternalError", "we are sorry"))},
		"connection cut":        {short, method("PUT"), firstly(3, cutInMidUpload)},
		"large, connection cut": {long, method("PUT"), firstly(3, cutInMidUpload)},
		"answer lost":           {short, method("PUT"), firstly(3, loseAnswer)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for call, put := range map[string]func(s *storage.S3) error{
				"Put": func(s *storage.S3) error { return s.Put(t.Context(), "k", test.body) },
				"PutNew": func(s *storage.S3) error {
					created, err := s.PutNew(t.Context(), "k", test.body)
					if err == nil && !created {
						err = errors.New("nothing was created")
					}
					return err
				},
			} {
				f := newFront(t, test.match, test.spoil)
				if err := put(f.hasty(t)); err != nil {
					t.Errorf("%s: %v", call, err)
				}
				if got, err := f.behind.Get(t.Context(), "k"); err != nil || !bytes.Equal(got, test.body) {
					t.Errorf("%s: %d bytes are stored, %v; want %d", call, len(got), err, len(test.body))
				}
			}
		})
	}
}

func TestS3UploadFailsWhole(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body  []byte
		match func(*http.Request) bool
		spoil spoil
		want  string
	}{
		"overloaded":     {[]byte("x"), method("PUT"), answer(503, "SlowDown", "reduce your request rate"), "503 SlowDown"},
		"connection cut": {long[:1<<20], method("PUT"), cutInMidUpload, "(4 attempts)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, test.match, test.spoil)
			err := f.hasty(t).Put(t.Context(), "cache/r/a.json", test.body)
			wantError(t, err, f.S3Settings, `store "cache/r/a.json" in bucket desk at `+host(t, f.S3Settings), test.want)
			absent(t, f.behind)
		})
	}
}

func TestS3CancelledUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the run is cancelled")
	f := newFront(t, method("PUT"), func(http.ResponseWriter, *http.Request, int64, http.Handler) {
		cancel(cause)
		<-t.Context().Done()
	})
	start := time.Now()
	err := f.hasty(t).Put(ctx, "k", long)
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), cause.Error()) || time.Since(start) > 5*time.Second {
		t.Errorf("Put: %v after %s, want the cause of the cancellation at once", err, time.Since(start))
	}
	absent(t, f.behind)
}
