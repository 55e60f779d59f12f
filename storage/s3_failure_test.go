package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
)

func TestS3WrongBucket(t *testing.T) {
	t.Parallel()
	storagetest.EachS3(t, func(t *testing.T, settings storage.S3Settings) {
		settings.Bucket = "absent"
		s := hasty(t, settings)
		want := "STORAGE_URL"
		wantError(t, s.Put(t.Context(), "a", nil), settings, `store "a"`, host(t, settings), want)
		wantError(t, s.Put(t.Context(), "a", long), settings, `store "a"`, want)
		_, err := s.Get(t.Context(), "a")
		wantError(t, err, settings, `fetch "a"`, want)
		if errors.Is(err, storage.ErrNotExist) {
			t.Error("Get says that only the key is missing")
		}
		_, err = s.Exists(t.Context(), "a")
		wantError(t, err, settings, `look for "a"`, want)
		_, err = s.List(t.Context(), "cache/")
		wantError(t, err, settings, `list "cache/"`, want)
		wantError(t, storage.Check(t.Context(), s), settings, want)
	})
}

func TestS3WrongCredentials(t *testing.T) {
	t.Parallel()
	server := storagetest.Versitygw(t)
	for name, test := range map[string]struct {
		change func(*storage.S3Settings)
		want   string
	}{
		"secret":     {func(s *storage.S3Settings) { s.SecretKey = "another-secret" }, "correct AWS_SECRET_ACCESS_KEY"},
		"access key": {func(s *storage.S3Settings) { s.AccessKey = "nobody-in-particular" }, "correct AWS_ACCESS_KEY_ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := server
			test.change(&settings)
			s := hasty(t, settings)
			start := time.Now()
			wantError(t, storage.Check(t.Context(), s), settings, test.want, host(t, settings))
			_, err := s.Exists(t.Context(), "a")
			wantError(t, err, settings, `look for "a"`, test.want)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %s: what cannot succeed is tried again", took)
			}
		})
	}
}

func TestS3SaysWhatToDo(t *testing.T) {
	t.Parallel()
	page := func(status int) spoil {
		return func(w http.ResponseWriter, r *http.Request, _ int64, _ http.Handler) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(status)
			io.WriteString(w, "<!DOCTYPE html><html><body>Welcome to nginx!</body></html>")
		}
	}
	for name, test := range map[string]struct {
		spoil spoil
		want  string
	}{
		"no right":          {answer(403, "AccessDenied", "Access Denied."), "AWS_ACCESS_KEY_ID"},
		"session over":      {answer(400, "ExpiredToken", "The provided token has expired."), "ExpiredToken"},
		"clock":             {answer(403, "RequestTimeTooSkewed", "The difference is too large."), "RequestTimeTooSkewed"},
		"region":            {answer(400, "AuthorizationHeaderMalformed", "expecting 'eu-west-1'"), "AWS_REGION"},
		"region, redirect":  {answer(301, "PermanentRedirect", "use another endpoint"), "AWS_REGION"},
		"no room":           {answer(507, "XMinioStorageFull", "Storage backend has reached its minimum free drive threshold."), "507"},
		"not implemented":   {answer(501, "NotImplemented", "A header you provided implies functionality that is not implemented"), "501"},
		"bad gateway":       {page(502), "502"},
		"a website":         {page(200), "AWS_ENDPOINT_URL_S3"},
		"a website, 404":    {page(404), "AWS_ENDPOINT_URL_S3"},
		"a website, 405":    {page(405), "AWS_ENDPOINT_URL_S3"},
		"something else":    {answer(400, "EntityTooLarge", "too large"), "EntityTooLarge"},
		"echo of a secret":  {answer(400, "Odd", "you sent NIGHTDESKTESTKEY0001 and a-secret-of-tests-only"), "you sent [redacted] and [redacted]"},
		"a hostile message": {answer(400, "Odd", "line\nline\u202e "+strings.Repeat("long ", 500)), "line line long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, every, test.spoil)
			err := storage.Check(t.Context(), f.hasty(t))
			wantError(t, err, f.S3Settings, test.want, host(t, f.S3Settings))
			if len(err.Error()) > 700 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestS3ShortAccessKeyHidesNothing: a short access key may be a common word, which messages contain for other reasons.
func TestS3ShortAccessKeyHidesNothing(t *testing.T) {
	t.Parallel()
	f := newFront(t, every, answer(404, "NoSuchBucket", "The bucket of desk is gone."))
	f.AccessKey = f.Bucket
	s := hasty(t, f.S3Settings)
	err := storage.Check(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "in bucket "+f.Bucket+" at ") || strings.Contains(err.Error(), "[redacted]") {
		t.Errorf("the error is %v", err)
	}
	if strings.Contains(err.Error(), f.SecretKey) {
		t.Errorf("the error shows the secret key: %v", err)
	}
}

func TestS3CheckNoticesWhoKeepsNothing(t *testing.T) {
	t.Parallel()
	f := newFront(t, every, func(w http.ResponseWriter, r *http.Request, _ int64, _ http.Handler) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"x"`)
	})
	wantError(t, storage.Check(t.Context(), f.hasty(t)), f.S3Settings, "AWS_ENDPOINT_URL_S3")
}

func TestS3NoServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	settings := storage.S3Settings{Bucket: "desk", Endpoint: "http://" + l.Addr().String(), AccessKey: "key-of-test", SecretKey: "secret-of-test"}
	l.Close()
	wantError(t, hasty(t, settings).Put(t.Context(), "a", nil), settings, `store "a"`, host(t, settings), "connection refused",
		"AWS_ENDPOINT_URL_S3", "(4 attempts)")

	// The usual pauses are longer than this context.
	s, err := storage.NewS3(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	err = s.Put(ctx, "a", nil)
	wantError(t, err, settings, host(t, settings))
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("Put: %v after %s, want the end of the context at once", err, time.Since(start))
	}

	settings.Endpoint = "http://s3.nightdesk.invalid"
	wantError(t, hasty(t, settings).Put(t.Context(), "a", nil), settings, "s3.nightdesk.invalid", "AWS_ENDPOINT_URL_S3")
}

func TestS3WithoutTLS(t *testing.T) {
	t.Parallel()
	settings := storagetest.FakeS3(t)
	settings.Endpoint = "https://" + host(t, settings)
	wantError(t, hasty(t, settings).Put(t.Context(), "a", nil), settings, "AWS_ENDPOINT_URL_S3")
}

func TestS3UntrustedCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = quiet
	var handshakes atomic.Int64
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			handshakes.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	settings := storage.S3Settings{Bucket: "desk", Endpoint: server.URL, AccessKey: "key-of-test", SecretKey: "secret-of-test"}
	wantError(t, hasty(t, settings).Put(t.Context(), "a", nil), settings, "AWS_CA_BUNDLE")
	if handshakes.Load() != 1 {
		t.Errorf("%d attempts, want one: another cannot succeed", handshakes.Load())
	}
}

func TestS3SlowServer(t *testing.T) {
	t.Parallel()
	drip := func(w http.ResponseWriter, r *http.Request, _ int64, _ http.Handler) {
		w.Header().Set("Content-Length", "1000000")
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond) // a slow server is made of time
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request, _ int64, _ http.Handler) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	for name, spoil := range map[string]spoil{"drips": drip, "hangs": hang} {
		t.Run(name+", the context ends it", func(t *testing.T) {
			t.Parallel()
			f := newFront(t, method("GET"), spoil)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			start := time.Now()
			body, err := f.impatient(t).Get(ctx, "a")
			if !errors.Is(err, context.DeadlineExceeded) || body != nil || time.Since(start) > 2*time.Second {
				t.Errorf("Get = %d bytes, %v after %s", len(body), err, time.Since(start))
			}
		})
		t.Run(name+", the limit of an attempt ends it", func(t *testing.T) {
			t.Parallel()
			f := newFront(t, method("GET"), spoil)
			body, err := f.impatient(t).Get(t.Context(), "a")
			wantError(t, err, f.S3Settings, `fetch "a"`, "300ms")
			if body != nil || f.requests.Load() < 3 {
				t.Errorf("Get = %d bytes after %d requests", len(body), f.requests.Load())
			}
		})
		t.Run(name+" once", func(t *testing.T) {
			t.Parallel()
			f := newFront(t, method("GET"), firstly(1, spoil))
			if err := f.behind.Put(t.Context(), "a", []byte("x")); err != nil {
				t.Fatal(err)
			}
			if body, err := f.impatient(t).Get(t.Context(), "a"); err != nil || string(body) != "x" {
				t.Errorf("Get = %q, %v", body, err)
			}
		})
	}
	t.Run("takes no upload", func(t *testing.T) {
		t.Parallel()
		f := newFront(t, method("PUT"), func(http.ResponseWriter, *http.Request, int64, http.Handler) { <-t.Context().Done() })
		wantError(t, f.impatient(t).Put(t.Context(), "a", long[:12<<20]), f.S3Settings, "the server is too slow")
	})
}

func TestS3DamagedDownload(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("evidence "), 50_000)
	truncated := func(w http.ResponseWriter, r *http.Request, n int64, pass http.Handler) {
		rewrite(func(_ http.Header, body []byte) []byte { return body[:len(body)/2] })(w, r, n, pass)
		cut()
	}
	shortened := rewrite(func(h http.Header, body []byte) []byte { h.Set("Content-Length", "100"); return body[:100] })
	flipped := rewrite(func(_ http.Header, body []byte) []byte { body[1000] ^= 1; return body })
	foreign := rewrite(func(h http.Header, body []byte) []byte {
		h.Del("X-Amz-Meta-Sha256") // an object that another program has put
		h.Set("X-Amz-Checksum-Crc32", "AAAAAA==")
		return body
	})
	for name, test := range map[string]struct {
		spoil spoil
		want  string
	}{
		"cut":               {truncated, "the response ended after"},
		"short and nothing": {shortened, "the content is damaged"},
		"a bit flipped":     {flipped, "the content is damaged"},
		"server's checksum": {foreign, "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			always := newFront(t, method("GET"), test.spoil)
			if err := always.behind.Put(t.Context(), "k", body); err != nil {
				t.Fatal(err)
			}
			got, err := always.hasty(t).Get(t.Context(), "k")
			wantError(t, err, always.S3Settings, `fetch "k"`, test.want)
			if got != nil {
				t.Errorf("%d bytes come with the error", len(got))
			}
			twice := newFront(t, method("GET"), firstly(2, test.spoil))
			if err := twice.behind.Put(t.Context(), "k", body); err != nil {
				t.Fatal(err)
			}
			if got, err := twice.hasty(t).Get(t.Context(), "k"); err != nil || !bytes.Equal(got, body) {
				t.Errorf("the third answer is good: Get = %d bytes, %v", len(got), err)
			}
		})
	}
}
