package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/extract"
	outside "nightdesk/pipeline/tools/fetch"
)

// download fetches pages as the program does, of these tests' servers.
func download(ctx context.Context, address string) (knowledge.Page, error) {
	client := outside.New(outside.Settings{Allow: []string{"127.0.0.1"}, PerHost: time.Nanosecond})
	defer client.Close()
	r, err := client.Do(ctx, outside.Request{URL: address})
	var status *outside.StatusError
	if errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone) {
		err = fmt.Errorf("%w: %w", err, extract.ErrNoPage)
	}
	if err != nil {
		return knowledge.Page{}, err
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return knowledge.Page{}, err
	}
	changed, _ := http.ParseTime(r.Header.Get("Last-Modified"))
	return knowledge.Page{Body: r.Body, Type: r.Type, Path: u.Path, Modified: changed}, nil
}

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
	base.SetDownloader(download)
	pages := []string{server.URL + "/tides", server.URL + "/notes.md", server.URL + "/absent", server.URL + "/endless", server.URL + "/tides"}
	rep, err := base.Ingest(t.Context(), pages, nil)
	if err != nil || rep.Added != 2 || len(rep.Skipped) != 2 {
		t.Fatalf("first time: %+v, %v; want 2 added, 2 skipped", rep, err)
	}
	for _, s := range rep.Skipped {
		if !strings.Contains(s.Reason, "404") && !strings.Contains(s.Reason, "larger than 20 MB") {
			t.Errorf("%s is skipped because %q", s.Document, s.Reason)
		}
	}
	found, err := base.Search(t.Context(), "what are spring tides caused by", 1, knowledge.Hybrid)
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	if p := found[0]; p.Document != server.URL+"/tides" || p.Anchor != "spring" || p.Date != "" || p.File != "" || strings.Contains(p.Text, "Home") {
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
			base.SetDownloader(download)
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

// User and password of an address are for the request: neither the base's file nor the report has them.
func TestPasswordOfAnAddressIsNotKept(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "reader" || password != "hunter2" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "<html><body><main><h1>Tides</h1><p>Spring tides are caused by the sun and the moon.</p></main></body></html>")
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "web.sqlite")
	base, err := knowledge.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	base.SetDownloader(download)
	host := strings.TrimPrefix(server.URL, "http://")
	roots := []string{"http://reader:hunter2@" + host + "/tides", "http://reader:hunter2@" + host + "/gone", server.URL + "/tides"}
	rep, err := base.Ingest(t.Context(), roots, nil)
	if err != nil || rep.Added != 1 || len(rep.Skipped) != 1 || strings.Contains(fmt.Sprint(rep), "hunter2") {
		t.Errorf("%+v, %v", rep, err)
	}
	found, err := base.Search(t.Context(), "spring tides", 1, knowledge.Hybrid)
	if err != nil || len(found) != 1 || found[0].Document != server.URL+"/tides" {
		t.Errorf("found %+v, %v", found, err)
	}
	empty, err := knowledge.Create(filepath.Join(t.TempDir(), "empty.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	empty.SetDownloader(download)
	_, err = empty.Ingest(t.Context(), roots[1:2], nil)
	if !errors.Is(err, knowledge.ErrEmpty) || !strings.Contains(err.Error(), "404") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a sole page that is not there: %v", err)
	}
	if name := knowledge.Name(roots[0]); strings.Contains(name, "hunter") || name != knowledge.Name(roots[2]) {
		t.Errorf("its name is %s", name)
	}
	if err := base.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if body, err := os.ReadFile(file); err != nil || strings.Contains(string(body), "hunter2") {
			t.Errorf("%s has the password, or %v", filepath.Base(file), err)
		}
	}
}
