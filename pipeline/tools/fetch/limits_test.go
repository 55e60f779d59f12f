package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/pipeline/tools/fetch"
)

func TestRedirects(t *testing.T) {
	t.Parallel()
	var seen atomic.Value // headers of the last request to the other server
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Clone())
		fmt.Fprint(w, "other")
	})
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/end":
			fmt.Fprint(w, r.Header.Get("X-Key"))
		case "/near":
			http.Redirect(w, r, "end?q=1#x", http.StatusFound)
		case "/other":
			http.Redirect(w, r, other+"/x", http.StatusMovedPermanently)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		case "/bad":
			w.Header().Set("Location", "http://[::bad/")
			w.WriteHeader(http.StatusFound)
		default:
			http.Redirect(w, r, map[string]string{
				"/private": "http://10.0.0.1/?key=s3cret", "/metadata": "http://169.254.169.254/latest/meta-data/", "/file": "file:///etc/passwd",
				"/mapped": "http://[::ffff:10.0.0.1]/", "/port": "http://93.184.215.14:22/", "/six": "http://[::1]/",
			}[r.URL.Path], http.StatusFound)
		}
	})
	c := client(t, fetch.Settings{})
	ask := func(path string) (fetch.Response, error) {
		return c.Do(t.Context(), fetch.Request{URL: here + path, Header: http.Header{"X-Key": {"s3cret"}, "Authorization": {"Bearer s3cret"}}})
	}
	if got, err := ask("/near"); err != nil || got.URL != here+"/end?q=1" || string(got.Body) != "s3cret" {
		t.Errorf("within the origin: %+v, %v", got, err)
	}
	if got, err := ask("/other"); err != nil || got.URL != other+"/x" || string(got.Body) != "other" {
		t.Errorf("to another origin: %+v, %v", got, err)
	} else if h := seen.Load().(http.Header); h.Get("X-Key") != "" || h.Get("Authorization") != "" {
		t.Errorf("credentials went to another origin: %v", h)
	}
	for path, why := range map[string]string{
		"/loop": fetch.RefusedRedirect, "/bad": fetch.RefusedRedirect, "/private": fetch.RefusedAddress, "/metadata": fetch.RefusedAddress,
		"/file": fetch.RefusedScheme, "/mapped": fetch.RefusedAddress, "/port": fetch.RefusedAddress, "/six": fetch.RefusedAddress,
	} {
		_, err := ask(path)
		refused(t, err, why)
	}
	var status *fetch.StatusError
	if _, err := c.Do(t.Context(), fetch.Request{Method: http.MethodPost, URL: here + "/near"}); !errors.As(err, &status) || status.Status != http.StatusFound {
		t.Errorf("a POST is redirected: %v", err)
	}
}

func pack(t *testing.T, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.CopyN(z, zeros{}, int64(size)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestBodies(t *testing.T) {
	t.Parallel()
	bomb := pack(t, 20<<20)
	text := pack(t, 900)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		case "/packed":
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("accepts %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(text)
		case "/cut":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(text[:len(text)-9])
		case "/notpacked":
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "plain words that say they are packed")
		case "/twice":
			w.Header().Set("Content-Encoding", "gzip, gzip")
			_, _ = w.Write(text)
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write(text)
		case "/said":
			w.Header().Set("Content-Length", "50000000")
			w.WriteHeader(http.StatusOK)
		case "/short":
			w.Header().Set("Content-Length", "500")
			fmt.Fprint(w, "not so much")
		case "/endless":
			for {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		case "/exact":
			_, _ = w.Write(make([]byte, 1000))
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		}
	})
	c := client(t, fetch.Settings{MaxBytes: 1000, Timeout: time.Minute})
	for path, want := range map[string]int{"/packed": 900, "/exact": 1000, "/none": 0} {
		got, err := c.Do(t.Context(), fetch.Request{URL: address + path})
		if err != nil || len(got.Body) != want {
			t.Errorf("%s: %d bytes, %v", path, len(got.Body), err)
		}
	}
	for path, why := range map[string]string{
		"/bomb": fetch.RefusedSize, "/said": fetch.RefusedSize, "/endless": fetch.RefusedSize,
		"/twice": fetch.RefusedEncoding, "/brotli": fetch.RefusedEncoding,
	} {
		_, err := c.Do(t.Context(), fetch.Request{URL: address + path})
		refused(t, err, why)
	}
	for _, path := range []string{"/cut", "/notpacked", "/short"} {
		if _, err := c.Do(t.Context(), fetch.Request{URL: address + path}); err == nil {
			t.Errorf("%s is taken for whole", path)
		}
	}
	if got, err := c.Do(t.Context(), fetch.Request{URL: address + "/endless", MaxBytes: 5}); err == nil {
		t.Errorf("%d bytes", len(got.Body))
	}
}

// TestBombMemory: a decompression bomb takes no more memory than the limit.
func TestBombMemory(t *testing.T) {
	bomb := pack(t, 64<<20)
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	c := client(t, fetch.Settings{MaxBytes: 1 << 20})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.Do(t.Context(), fetch.Request{URL: address})
	runtime.ReadMemStats(&after)
	refused(t, err, fetch.RefusedSize)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 32<<20 {
		t.Errorf("%d MB were allocated for a limit of 1 MB", spent>>20)
	}
}

func TestSlowServers(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/drip" {
			for r.Context().Err() == nil {
				fmt.Fprint(w, ".")
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(20 * time.Millisecond):
				}
			}
		}
		<-r.Context().Done()
	})
	c := client(t, fetch.Settings{Timeout: 300 * time.Millisecond})
	for _, path := range []string{"/drip", "/silent"} {
		start := time.Now()
		_, err := c.Do(t.Context(), fetch.Request{URL: address + path + "?key=s3cret"})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v after %s", path, err, time.Since(start))
		}
	}
	why := errors.New("the desk closes")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	if _, err := c.Do(ctx, fetch.Request{URL: address + "/drip"}); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		if kind := r.URL.Query().Get("as"); kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		fmt.Fprint(w, map[string]string{"/html": "<!DOCTYPE html><p>x", "/png": "\x89PNG\r\n\x1a\nxxxx", "/pdf": "%PDF-1.7 x"}[r.URL.Path])
	})
	c := client(t, fetch.Settings{})
	for _, tc := range []struct {
		path   string
		accept []string
		want   string // empty: refused
	}{
		{"/html?as=text/html;charset=latin1", []string{"text/html"}, "text/html"},
		{"/html?as=text/html", []string{"application/json"}, ""},
		{"/html?as=text/html", nil, "text/html"},
		{"/html?as=text/html", []string{"text/*;q=0.5"}, "text/html"},
		{"/html", []string{"text/html"}, "text/html"},
		{"/pdf?as=application/octet-stream", []string{"application/pdf"}, "application/pdf"},
		{"/png", []string{"text/html"}, ""},
		{"/png?as=image/png", []string{"text/html", "text/*"}, ""},
		{"/html?as=;;;", []string{"text/html"}, "text/html"},
	} {
		got, err := c.Do(t.Context(), fetch.Request{URL: address + tc.path, Accept: tc.accept})
		if tc.want == "" {
			refused(t, err, fetch.RefusedType)
		} else if err != nil || got.Type != tc.want {
			t.Errorf("%s: %q, %v", tc.path, got.Type, err)
		}
	}
}

// TestUserNameIsRedacted uses an address whose user name is a key.
func TestUserNameIsRedacted(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		http.Error(w, "unknown user "+user+" with "+password, http.StatusForbidden)
	})
	address = strings.Replace(address, "http://", "http://s3cret-user:s3cret-word@", 1)
	_, err := client(t, fetch.Settings{}).Do(t.Context(), fetch.Request{URL: address})
	var status *fetch.StatusError
	if !errors.As(err, &status) || status.Snippet != "unknown user [redacted] with [redacted]" {
		t.Errorf("%+v", err)
	}
}

func TestStatusErrors(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", r.URL.Query().Get("after"))
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprintf(w, "<html><b>too many</b>\x00 of key %s and %s and %s\n%s", r.URL.Query().Get("key"), r.Header.Get("X-Key"), r.Header.Get("Authorization"), strings.Repeat("x", 1<<20))
	})
	c := client(t, fetch.Settings{})
	for after, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0.5": 500 * time.Millisecond, "": 0, "-3": 0, "soon": 0, "99999999999999": 7 * 24 * time.Hour, "NaN": 0,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): 0,
	} {
		request := fetch.Request{URL: address + "/path?key=s3cret-1&after=", Header: http.Header{"X-Key": {"s3cret-2"}, "Authorization": {"Bearer s3cret-3"}}}
		request.URL += strings.ReplaceAll(after, " ", "+")
		_, err := c.Do(t.Context(), request)
		var status *fetch.StatusError
		if !errors.As(err, &status) || status.Status != 429 || status.RetryAfter != want || status.Host != "127.0.0.1" {
			t.Errorf("%q: %+v", after, err)
			continue
		}
		if s := status.Snippet; !strings.HasPrefix(s, "too many of key [redacted]") || strings.Contains(err.Error(), "s3cret") || len(s) > 300 {
			t.Errorf("snippet %q", s)
		}
	}
}

// TestStatusWithEndlessWords: a status is reported even if its body never ends.
func TestStatusWithEndlessWords(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	_, err := client(t, fetch.Settings{Timeout: 2 * time.Second}).Do(t.Context(), fetch.Request{URL: address})
	var status *fetch.StatusError
	if !errors.As(err, &status) || status.Status != http.StatusForbidden {
		t.Errorf("got %v", err)
	}
}

// TestErrorsAreClean: no error contains a credential.
func TestErrorsAreClean(t *testing.T) {
	t.Parallel()
	c := fetch.NewResolving(fetch.Settings{Allow: loopback, Timeout: 5 * time.Second}, resolver(t, nil))
	for _, address := range []string{
		"http://user:s3cret@127.0.0.1:1/?key=s3cret", "http://s3cret:s3cret@10.0.0.1/#s3cret", "http://user:s3cret@nowhere.invalid/?token=s3cret",
		"ftp://user:s3cret@a.example/", "http://user:s3cret@[::bad/?s3cret", "https://127.0.0.1:1/x?s3cret", "http:user:s3cret@a.example/",
	} {
		_, err := c.Do(t.Context(), fetch.Request{URL: address, Header: http.Header{"X-Key": {"s3cret"}, "Bad\nName": {"s3cret"}}})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}
