package knowledge_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"nightdesk/pipeline/knowledge"
)

func TestWebPagesBecomeDocuments(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case down.Load() && r.URL.Path == "/tides":
			http.Error(w, "out of order", http.StatusServiceUnavailable)
		case r.URL.Path == "/tides":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Last-Modified", "Sun, 01 Mar 2026 08:00:00 GMT")
			fmt.Fprint(w, `<html><head><title>Tides</title></head><body><nav>Home</nav><main><h1>Tides</h1><h2 id="spring">Spring tides</h2>
				<p>Spring tides are caused by the sun and the moon when they pull along one line.</p></main></body></html>`)
		case r.URL.Path == "/notes.md":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "# Notes\n\nNeap tides are the weakest tides of the month.\n")
		case r.URL.Path == "/endless":
			w.Header().Set("Content-Type", "text/html")
			for range 22 << 10 {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	base, err := knowledge.Create(filepath.Join(t.TempDir(), "web.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	pages := []string{server.URL + "/tides", server.URL + "/notes.md", server.URL + "/absent", server.URL + "/endless", server.URL + "/tides"}
	rep, err := base.Ingest(t.Context(), pages, nil)
	if err != nil || rep.Added != 2 || len(rep.Skipped) != 2 {
		t.Fatalf("first time: %+v, %v; want 2 added, 2 skipped", rep, err)
	}
	for _, s := range rep.Skipped {
		if !strings.Contains(s.Reason, "404") && !strings.Contains(s.Reason, "larger than") {
			t.Errorf("%s is skipped because %q", s.Document, s.Reason)
		}
	}
	found, err := base.Search(t.Context(), "what are spring tides caused by", 1, knowledge.Hybrid)
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	if p := found[0]; p.Document != server.URL+"/tides" || p.Anchor != "spring" || p.Date != "2026-03-01" || strings.Contains(p.Text, "Home") {
		t.Errorf("found %+v", p)
	}
	if rep, err = base.Ingest(t.Context(), pages, nil); err != nil || rep.Unchanged != 2 || rep.Updated != 0 {
		t.Errorf("again: %+v, %v; want 2 unchanged", rep, err)
	}
	down.Store(true)
	if rep, err = base.Ingest(t.Context(), pages[:2], nil); err != nil || rep.Removed != 0 || len(rep.Skipped) != 1 {
		t.Errorf("with the server in trouble: %+v, %v; want what was read before kept", rep, err)
	}
	if found, err = base.Search(t.Context(), "spring tides", 1, knowledge.Hybrid); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v after the trouble", found, err)
	}
}

// What stands in the place of a page that the base holds, and whether it holds it still.
func TestWebPagesThatAreNotThere(t *testing.T) {
	t.Parallel()
	const page = `<html><head><title>Tides</title></head><body><main><h1>Tides</h1><p>Spring tides are caused by the sun and the moon.</p></main></body></html>`
	for _, tt := range []struct {
		name   string
		status int
		body   string
		held   bool
	}{
		{"trouble", http.StatusServiceUnavailable, "out of order", true},
		{"refused", http.StatusForbidden, "no", true},
		{"nothing", http.StatusOK, "<html><body></body></html>", true},
		{"a check for human visitors", http.StatusOK, "<html><body><h1>Just a moment</h1><p>We are checking your browser.</p></body></html>", true},
		{"a form to sign in", http.StatusOK, `<html><body><p>Please sign in to read about this harbour.</p><input type="password"></body></html>`, true},
		{"out of order", http.StatusOK, "<html><body><h1>We will be back soon</h1><p>This site is down for maintenance. Please try again later.</p></body></html>", true},
		{"gone", http.StatusGone, page, false},
		{"not found", http.StatusNotFound, page, false},
		{"not found, with status 200", http.StatusOK, "<html><head><title>Page not found</title></head><body><p>We have looked everywhere.</p></body></html>", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var later atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				if later.Load() && r.URL.Path == "/tides" {
					w.WriteHeader(tt.status)
					fmt.Fprint(w, tt.body)
					return
				}
				fmt.Fprint(w, page)
			}))
			defer server.Close()
			base, err := knowledge.Create(filepath.Join(t.TempDir(), "web.sqlite"))
			if err != nil {
				t.Fatal(err)
			}
			defer base.Close()
			for range 2 {
				rep, err := base.Ingest(t.Context(), []string{server.URL + "/tides", server.URL + "/other"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !later.Load() {
					later.Store(true)
					continue
				}
				if held := rep.Removed == 0; held != tt.held || len(rep.Skipped) != 1 || rep.Updated != 0 {
					t.Errorf("%+v, want held %v", rep, tt.held)
				}
			}
		})
	}
}
