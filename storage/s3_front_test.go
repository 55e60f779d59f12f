package storage_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
)

// front is a proxy before a working server that can cause failures.
type front struct {
	storage.S3Settings              // of the front
	behind             *storage.S3  // the same bucket and folder, without the front
	requests           atomic.Int64 // all that came
}

// spoil answers a request itself, or forwards it by pass. n counts the matching requests from 1.
type spoil func(w http.ResponseWriter, r *http.Request, n int64, pass http.Handler)

// newFront spoils the requests that match.
func newFront(t *testing.T, match func(*http.Request) bool, spoil spoil) *front {
	t.Helper()
	settings := storagetest.FakeS3(t)
	target, err := url.Parse(settings.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{S3Settings: settings}
	if f.behind, err = storage.NewS3(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { panic(http.ErrAbortHandler) }
	var matched atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		if match(r) {
			spoil(w, r, matched.Add(1), pass)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.Endpoint = server.URL
	return f
}

// hasty returns the store behind the front.
func (f *front) hasty(t *testing.T) *storage.S3 { return hasty(t, f.S3Settings) }

// impatient is hasty with a short timeout.
func (f *front) impatient(t *testing.T) *storage.S3 {
	return withPatience(t, f.S3Settings, 300*time.Millisecond)
}

func hasty(t *testing.T, settings storage.S3Settings) *storage.S3 {
	return withPatience(t, settings, 20*time.Second)
}

func withPatience(t *testing.T, settings storage.S3Settings, patience time.Duration) *storage.S3 {
	t.Helper()
	s, err := storage.NewHastyS3(t.Context(), settings, patience)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func every(*http.Request) bool { return true }

func method(m string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == m }
}

// cut closes the connection without an answer.
func cut() { panic(http.ErrAbortHandler) }

// firstly spoils the first n requests and forwards the others.
func firstly(n int64, s spoil) spoil {
	return func(w http.ResponseWriter, r *http.Request, i int64, pass http.Handler) {
		if i > n {
			pass.ServeHTTP(w, r)
			return
		}
		s(w, r, i, pass)
	}
}

// answer returns an S3 error.
func answer(status int, code, message string) spoil {
	return func(w http.ResponseWriter, r *http.Request, _ int64, _ http.Handler) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		io.WriteString(w, "<Error><Code>"+code+"</Code><Message>"+message+"</Message></Error>")
	}
}

// cutInMidUpload reads a part of the request body and closes the connection.
func cutInMidUpload(_ http.ResponseWriter, r *http.Request, _ int64, _ http.Handler) {
	io.CopyN(io.Discard, r.Body, r.ContentLength/2)
	cut()
}

// loseAnswer lets the server process the request and closes the connection instead of answering.
func loseAnswer(_ http.ResponseWriter, r *http.Request, _ int64, pass http.Handler) {
	pass.ServeHTTP(httptest.NewRecorder(), r)
	cut()
}

// rewrite changes the body of the server's answer.
func rewrite(change func(h http.Header, body []byte) []byte) spoil {
	return func(w http.ResponseWriter, r *http.Request, _ int64, pass http.Handler) {
		rec := httptest.NewRecorder()
		pass.ServeHTTP(rec, r)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		body := change(w.Header(), rec.Body.Bytes())
		w.WriteHeader(rec.Code)
		w.Write(body)
	}
}

// wantError checks the parts of an error and that it contains no credentials.
func wantError(t *testing.T, err error, settings storage.S3Settings, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	for _, secret := range []string{settings.AccessKey, settings.SecretKey} {
		if secret != "" && strings.Contains(err.Error(), secret) {
			t.Errorf("error %q holds credentials", err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has several lines", err)
	}
}

func host(t *testing.T, settings storage.S3Settings) string {
	t.Helper()
	u, err := url.Parse(settings.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
