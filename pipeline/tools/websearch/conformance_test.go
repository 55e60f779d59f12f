package websearch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/tools/websearch"
)

const html = "<!doctype html><title>Sign in</title><p>Sign in to continue"

// TestConformance tests every provider with the same server behaviours and expected results.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, name := range websearch.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conforms(t, name)
		})
	}
}

func conforms(t *testing.T, name string) {
	good, key := fixture(t, name), secretKey
	if name == "searxng" { // gets none
		key = ""
	}
	soon := time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat)
	elsewhere := serve(t, answers(http.StatusOK, "text/html", []byte(html)))
	for _, tc := range []struct {
		name   string
		server http.HandlerFunc
		class  websearch.Class
		after  time.Duration // at least, of Error.RetryAfter
	}{
		{"401", answers(401, "application/json", []byte(`{"detail":{"error":"Unauthorized: missing or invalid API key `+key+`."}}`)), websearch.Refused, 0},
		{"402", answers(402, "application/json", []byte(`{"error":"no credits"}`)), refusedUnless(name, "searxng"), 0},
		{"403", answers(403, "text/html", []byte("<h1>Forbidden</h1>")), websearch.Refused, 0},
		{"429 in seconds", answers(429, "application/json", []byte(`{}`), "Retry-After", "7"), websearch.Busy, 7 * time.Second},
		{"429 until a date", answers(429, "application/json", []byte(`{}`), "Retry-After", soon), websearch.Busy, time.Hour},
		{"429 without a word", answers(429, "text/plain", nil), websearch.Busy, 0},
		{"400", answers(400, "application/json", []byte(`{"message":"Query is too long."}`)), websearch.Unavailable, 0},
		{"500", answers(500, "text/html", []byte(html)), websearch.Unavailable, 0},
		{"503", answers(503, "text/plain", []byte("down")), websearch.Unavailable, 0},
		{"503 for a while", answers(503, "text/plain", []byte("down"), "Retry-After", "20"), websearch.Busy, 20 * time.Second},
		{"HTML", answers(200, "text/html", []byte(html)), websearch.Malformed, 0},
		{"HTML that says it is JSON", answers(200, "application/json", []byte(html)), websearch.Malformed, 0},
		{"nothing at all", answers(200, "application/json", nil), websearch.Malformed, 0},
		{"truncated JSON", answers(200, "application/json", good[:len(good)/2]), websearch.Malformed, 0},
		{"an array", answers(200, "application/json", []byte(`[]`)), websearch.Malformed, 0},
		{"another object", answers(200, "application/json", []byte(`{"error":"something went wrong"}`)), websearch.Malformed, 0},
		{"wrong types", answers(200, "application/json", []byte(`{"type":"search","results":"none","organic":7,"web":{"results":{}}}`)), websearch.Malformed, 0},
		{"wrong types of all results", answers(200, "application/json", []byte(`{"type":"search","results":[1,2],"organic":[true],"web":{"results":["x"]}}`)), websearch.Malformed, 0},
		{"too large", answers(200, "application/json", bytes.Repeat([]byte(" "), websearch.MaxBody+1)), websearch.Malformed, 0},
		{"a bomb", answers(200, "application/json", packed(t, websearch.MaxBody+1), "Content-Encoding", "gzip"), websearch.Malformed, 0},
		{"cut off", answers(200, "application/json", good[:len(good)/2], "Content-Length", fmt.Sprint(len(good))), websearch.Unavailable, 0},
		{"redirect to itself", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, unlessPost(name, websearch.Malformed), 0},
		{"redirect to a private address", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		}, unlessPost(name, websearch.Refused), 0},
		{"redirect to a login", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, http.StatusFound) }, unlessPost(name, websearch.Malformed), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			found, err := provider(t, name, tc.server).Search(t.Context(), "leo messi "+secretKey, 5)
			e := refusal(t, err)
			if e.Class != tc.class || e.Provider != name || len(found.Sources) > 0 || (e.Class == websearch.Refused) != (e.Advice != "") {
				t.Errorf("class %d, want %d: %+v, %+v", e.Class, tc.class, e, found)
			}
			if e.RetryAfter < tc.after || tc.after == 0 && e.RetryAfter != 0 {
				t.Errorf("come back in %s, want %s", e.RetryAfter, tc.after)
			}
		})
	}
	t.Run("finds nothing", func(t *testing.T) {
		t.Parallel()
		found, err := provider(t, name, answers(200, "application/json", []byte(nothing[name]))).Search(t.Context(), "x", 5)
		if err != nil || len(found.Sources) > 0 || found.Provider != name {
			t.Errorf("%+v, %v", found, err)
		}
	})
	t.Run("as text", func(t *testing.T) { // some proxies lose the type
		t.Parallel()
		found, err := provider(t, name, answers(200, "text/plain", append([]byte("\ufeff "), good...))).Search(t.Context(), "x", 5)
		if err != nil || len(found.Sources) == 0 {
			t.Errorf("%+v, %v", found, err)
		}
	})
	t.Run("slow drip", func(t *testing.T) {
		t.Parallel()
		end := make(chan struct{})
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				select {
				case <-end:
					return
				case <-r.Context().Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
		t.Cleanup(func() { close(end) })
		p := build(t, websearch.Settings{Name: name, BaseURL: base, Outside: outside(t, 300*time.Millisecond), Pace: freely{}})
		_, err := p.Search(t.Context(), "x", 5)
		if e := refusal(t, err); e.Class != websearch.Unavailable || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(e.Words(), "in time") {
			t.Errorf("%+v, %s", e, e.Words())
		}
	})
	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		p := build(t, websearch.Settings{Name: name, BaseURL: "http://127.0.0.1:1", Key: secretKey, Outside: outside(t, time.Minute), Pace: freely{}})
		_, err := p.Search(t.Context(), "x", 5)
		if e := refusal(t, err); e.Class != websearch.Unavailable {
			t.Errorf("%+v", e)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		stop := errors.New("the run is cancelled")
		ctx, cancel := context.WithCancelCause(t.Context())
		p := provider(t, name, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client is gone
			cancel(stop)
			<-r.Context().Done()
		})
		if _, err := p.Search(ctx, "x", 5); !errors.Is(err, stop) {
			t.Error(err)
		}
	})
}

// refusedUnless returns Refused, except for one provider that does not use the status.
func refusedUnless(name, except string) websearch.Class {
	if name == except {
		return websearch.Unavailable
	}
	return websearch.Refused
}

// unlessPost returns the class of an error in following a redirect. Providers that use POST do not follow redirects.
func unlessPost(name string, class websearch.Class) websearch.Class {
	if name == "searxng" || name == "brave" {
		return class
	}
	return websearch.Unavailable
}

func packed(t *testing.T, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(bytes.Repeat([]byte(" "), size)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
