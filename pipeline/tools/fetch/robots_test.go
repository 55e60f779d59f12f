package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/pipeline/tools/fetch"
)

func TestRobotsRules(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, robots, path string
		allowed            bool
	}{
		{"empty", "", "/a", true},
		{"all", "User-agent: *\nDisallow: /", "/a", false},
		{"nothing is excluded", "User-agent: *\nDisallow:", "/a", true},
		{"own group comes first", "User-agent: *\nDisallow: /\n\nUser-agent: nightdesk\nDisallow: /b", "/a", true},
		{"own group excludes", "user-agent: Nightdesk/2\ndisallow: /a\nUser-agent: *\nAllow: /", "/a/x", false},
		{"others' group", "User-agent: nightdesker\nDisallow: /", "/a", true},
		{"two agents", "User-agent: a\nUser-agent: nightdesk\nDisallow: /a", "/a", false},
		{"longest", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true},
		{"tie", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", true},
		{"star", "User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", false},
		{"star and more", "User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf.html", true},
		{"query", "User-agent: *\nDisallow: /*?sort=", "/x?sort=up", false},
		{"end", "User-agent: *\nDisallow: /a$", "/ab", true},
		{"two ends", "User-agent: *\nDisallow: /a*b$", "/a-b-b", false},
		{"escapes", "User-agent: *\nDisallow: /caf%C3%A9", "/café", false},
		{"comment", "User-agent: * # all\nDisallow: /a # this", "/a", false},
		{"mark", "\ufeffUser-agent: *\r\nDisallow: /a\r\n", "/a", false},
		{"rule without agent", "Disallow: /", "/a", true},
		{"sitemap ends no group", "User-agent: *\nSitemap: http://x\nDisallow: /a", "/a", false},
		{"garbage", "\x00\xff<html>\n:::\nUser-agent", "/a", true},
	} {
		if got := fetch.RobotsAllow(tc.robots, "nightdesk/1.0 (x)", tc.path); got != tc.allowed {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

func TestRobots(t *testing.T) {
	t.Parallel()
	var asked, pages atomic.Int32
	robots := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /private") }
	handler := func(answer http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/robots.txt":
				asked.Add(1)
				answer(w, r)
			case "/away":
				http.Redirect(w, r, "/private/x", http.StatusFound)
			default:
				pages.Add(1)
			}
		}
	}
	address := serve(t, handler(robots))
	c := client(t, fetch.Settings{PerHost: time.Microsecond})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := c.Do(t.Context(), fetch.Request{URL: address + "/a", Robots: true}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if asked.Load() != 1 || pages.Load() != 8 {
		t.Errorf("robots.txt was asked for %d times, pages %d", asked.Load(), pages.Load())
	}
	for _, path := range []string{"/private/y", "/away"} {
		_, err := c.Do(t.Context(), fetch.Request{URL: address + path + "?key=s3cret", Robots: true})
		refused(t, err, fetch.RefusedRobots)
	}
	if _, err := c.Do(t.Context(), fetch.Request{URL: address + "/private/y"}); err != nil {
		t.Errorf("a service: %v", err)
	}
	for status, allowed := range map[int]bool{404: true, 403: true, 503: false, 429: false} {
		address := serve(t, handler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		if _, err := c.Do(t.Context(), fetch.Request{URL: address + "/a", Robots: true}); allowed != (err == nil) {
			t.Errorf("%d: %v", status, err)
		}
	}
	endless := serve(t, handler(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("User-agent: *\n", 1<<16)) }))
	if _, err := c.Do(t.Context(), fetch.Request{URL: endless + "/a", Robots: true}); err != nil {
		t.Errorf("a huge robots.txt: %v", err)
	}
}

// recorder is a Pace that records its calls.
type recorder struct {
	mu    sync.Mutex
	asked []string
	err   error
}

func (r *recorder) Wait(_ context.Context, key string, every time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, fmt.Sprint(key, " ", every))
	return r.err
}

func TestPerHostRate(t *testing.T) {
	t.Parallel()
	delay := "Crawl-delay: 3"
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\n", delay)
		}
	})
	pace := &recorder{}
	c := client(t, fetch.Settings{PerHost: 2 * time.Second, Pace: pace})
	for _, robots := range []bool{true, false} {
		if _, err := c.Do(t.Context(), fetch.Request{URL: address, Robots: robots}); err != nil {
			t.Fatal(err)
		}
	}
	if len(pace.asked) != 1 || pace.asked[0] != "host:127.0.0.1 3s" {
		t.Errorf("%q", pace.asked)
	}
	pace.err = fmt.Errorf("next year: %w", context.DeadlineExceeded)
	if _, err := c.Do(t.Context(), fetch.Request{URL: address, Robots: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestLocalPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pace := fetch.NewLocalPace()
		start := time.Now()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := pace.Wait(t.Context(), "host:a", time.Second); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("four turns took %s", took)
		}
		if err := pace.Wait(t.Context(), "host:b", time.Second); err != nil || time.Since(start) != 3*time.Second {
			t.Errorf("another key waits: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if err := pace.Wait(ctx, "host:a", time.Second); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("beyond the deadline: %v after %s", err, time.Since(start))
		}
		if err := pace.Wait(t.Context(), "host:a", time.Second); err != nil || time.Since(start) != 4*time.Second {
			t.Errorf("the refused turn was used up: %v after %s", err, time.Since(start))
		}
	})
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /", "/a/b?c")
	f.Add("User-agent: nightdesk\nCrawl-delay: 1e300\nDisallow: *", "")
	f.Fuzz(func(t *testing.T, robots, path string) {
		address := "http://a.example/" + path
		if _, err := url.Parse(address); err != nil {
			return
		}
		fetch.RobotsAllow(robots, "nightdesk", "/"+path)
		if !fetch.RobotsAllow("", "nightdesk", "/"+path) {
			t.Error("nothing excludes it")
		}
		if fetch.RobotsAllow("User-agent: *\nDisallow: /", "nightdesk", "/"+path) {
			t.Error("everything is excluded but this")
		}
	})
}
