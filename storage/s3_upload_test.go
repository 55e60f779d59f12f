package storage_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/storage"
)

// long is a body that is uploaded in parts.
var long = bytes.Repeat([]byte("0123456789abcdef"), 18<<20/16)

func isPart(r *http.Request) bool { return r.Method == "PUT" && r.URL.Query().Has("partNumber") }

// isComplete reports whether a request joins the parts of an upload.
func isComplete(r *http.Request) bool { return r.Method == "POST" && r.URL.Query().Has("uploadId") }

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
		"overloaded":                 {short, method("PUT"), firstly(3, answer(503, "SlowDown", "reduce your request rate"))},
		"too many requests":          {short, method("PUT"), firstly(3, answer(429, "TooManyRequests", "slow down"))},
		"server in trouble":          {short, method("PUT"), firstly(3, answer(500, "InternalError", "we are sorry"))},
		"connection cut":             {short, method("PUT"), firstly(3, cutInMidUpload)},
		"answer lost":                {short, method("PUT"), firstly(3, loseAnswer)},
		"part: connection cut":       {long, isPart, firstly(3, cutInMidUpload)},
		"part: overloaded":           {long, isPart, firstly(3, answer(503, "SlowDown", "reduce your request rate"))},
		"last step: overloaded":      {long, isComplete, firstly(3, answer(503, "SlowDown", "reduce your request rate"))},
		"last step: answer lost":     {long, isComplete, firstly(1, loseAnswer)},
		"last step: error after 200": {long, isComplete, firstly(3, answer(200, "InternalError", "we are sorry"))},
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
		"overloaded":           {[]byte("x"), method("PUT"), answer(503, "SlowDown", "reduce your request rate"), "overloaded or unavailable (503 SlowDown: reduce your request rate): try again later, or with fewer workers (4 attempts)"},
		"connection cut":       {long[:1<<20], method("PUT"), cutInMidUpload, "check the server's log, or the network (4 attempts)"},
		"part: connection cut": {long, isPart, cutInMidUpload, "(4 attempts)"},
		"part: refused":        {long, isPart, answer(403, "AccessDenied", "no"), "access denied"},
		"last step: trouble":   {long, isComplete, answer(500, "InternalError", "we are sorry"), "500 InternalError"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var aborts atomic.Int64
			f := newFront(t, func(r *http.Request) bool {
				if r.Method == "DELETE" {
					aborts.Add(1)
				}
				return test.match(r)
			}, test.spoil)
			err := f.hasty(t).Put(t.Context(), "cache/r/a.json", test.body)
			wantError(t, err, f.S3Settings, `store "cache/r/a.json" in bucket desk at `+host(t, f.S3Settings), test.want)
			absent(t, f.behind)
			if inParts := len(test.body) == len(long); inParts != (aborts.Load() == 1) {
				t.Errorf("%d uploads were aborted", aborts.Load())
			}
		})
	}
}

func TestS3CancelledUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the run is cancelled")
	var aborted atomic.Bool
	f := newFront(t, func(r *http.Request) bool {
		if r.Method == "DELETE" {
			aborted.Store(true)
		}
		return isPart(r)
	}, func(http.ResponseWriter, *http.Request, int64, http.Handler) {
		cancel(cause)
		<-t.Context().Done()
	})
	start := time.Now()
	err := f.hasty(t).Put(ctx, "k", long)
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), cause.Error()) || time.Since(start) > 5*time.Second {
		t.Errorf("Put: %v after %s, want the cause of the cancellation at once", err, time.Since(start))
	}
	absent(t, f.behind)
	if !aborted.Load() {
		t.Error("the parts are left behind")
	}
}
