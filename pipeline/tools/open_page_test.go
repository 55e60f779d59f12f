package tools_test

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

var update = flag.Bool("update", false, "rewrite golden files")

// opener returns the tool and the address of a test site.
func opener(t *testing.T, site http.HandlerFunc) (tools.Tool, string) {
	t.Helper()
	s := httptest.NewServer(site)
	t.Cleanup(s.Close)
	c := fetch.New(fetch.Settings{Allow: []string{"127.0.0.1"}, PerHost: time.Microsecond, Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	return tools.NewOpenPage(c), s.URL
}

// files serves testdata.
func files(dir string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, filepath.Join(dir, filepath.Base(r.URL.Path)))
	}
}

func TestOpenPageGolden(t *testing.T) {
	t.Parallel()
	const dir = "testdata/open_page"
	tool, site := opener(t, files(dir))
	if d := tool.Description(); tool.Name() != "open_page" || len(d) < 80 || len(d) > 1000 || !strings.Contains(d, "Query:") || strings.TrimSpace(d) != d {
		t.Errorf("%s: %q", tool.Name(), d)
	}
	for _, tc := range []struct{ file, title, date string }{
		{"docs.html", "Client-side caching", "2026-03-02"},
		{"news.html", "Harbour bridge reopens after two years", "2026-09-14"},
		{"forum.html", "Worker keeps reconnecting every 30 s", ""},
		{"paper.html", "On the cooling of small queues", "2026-01-05"},
	} {
		t.Run(tc.file, func(t *testing.T) {
			t.Parallel()
			result, err := tool.Call(t.Context(), tools.Call{Query: site + "/" + tc.file + "#part"})
			if err != nil || result.Failed || len(result.Sources) != 1 {
				t.Fatalf("%+v, %v", result, err)
			}
			s := result.Sources[0]
			if s.Kind != topicqueue.SourceWeb || s.Title != tc.title || s.Date != tc.date || s.URL != site+"/"+tc.file ||
				s.Hash != topicqueue.TextHash(s.Text) || s.ID != topicqueue.SourceID(s) || s.RetrievedAt.IsZero() {
				t.Errorf("%+v", s)
			}
			golden := filepath.Join(dir, strings.TrimSuffix(tc.file, ".html")+".golden.md")
			got := strings.ReplaceAll(result.Text, site, "http://site") + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(result.Text, s.Text) {
				t.Error("the answer lacks the source's text")
			}
		})
	}
}

func TestOpenPageFails(t *testing.T) {
	t.Parallel()
	tool, site := opener(t, func(w http.ResponseWriter, r *http.Request) {
		kind, body, status := "text/html", "<p>A page with words.", http.StatusOK
		switch r.URL.Path {
		case "/robots.txt":
			kind, body = "text/plain", "User-agent: *\nDisallow: /secret"
		case "/gone":
			status = http.StatusGone
		case "/login":
			status = http.StatusForbidden
		case "/busy":
			status = http.StatusTooManyRequests
		case "/broken":
			status = http.StatusBadGateway
		case "/teapot":
			status = http.StatusTeapot
		case "/empty":
			body = "<html><body><div id=root></div><script>start()</script></body></html>"
		case "/check":
			body = "<title>Just a moment...</title><p>Checking your browser before you go on."
		case "/movie":
			kind = "video/mp4"
		case "/away":
			w.Header().Set("Location", "http://10.0.0.1/?key=s3cret")
			status = http.StatusFound
		case "/pdf":
			kind, body = "application/pdf", "%PDF-1.7\nbroken"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
	for query, want := range map[string]string{
		"": "needs one full address", "how tall is the bridge": "use a search", "ftp://a.example/x": "needs one full address",
		site + "/gone": "no such page, 410", site + "/login": "only for subscribers, 403", site + "/busy": "asked too often",
		site + "/broken": "has a failure, 502", site + "/teapot": "418", site + "/empty": "no text in it", site + "/check": "check for human visitors",
		site + "/movie": "of type \"video/mp4\"", site + "/secret": "robots.txt", site + "/away": "Only public pages", site + "/pdf": "damaged",
		"http://10.0.0.1/x?key=s3cret": "Only public pages", "http://127.0.0.1:1/": "cannot be reached",
	} {
		result, err := tool.Call(t.Context(), tools.Call{Query: query})
		if err != nil || !result.Failed || len(result.Sources) != 0 || !strings.Contains(result.Text, want) || strings.Contains(result.Text, "s3cret") {
			t.Errorf("%q: %+v, %v", query, result, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the desk closes")
	cancel(why)
	if _, err := tool.Call(ctx, tools.Call{Query: site + "/x"}); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestPageAddress: text around an address is ignored.
func TestPageAddress(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"https://a.example/x":                            "https://a.example/x",
		" <HTTPS://a.example/x?b=c#d> ":                  "https://a.example/x?b=c",
		"`https://a.example/x`.":                         "https://a.example/x",
		"[A page](https://a.example/x)":                  "https://a.example/x",
		"See https://a.example/x, please":                "https://a.example/x",
		"(https://en.a.example/wiki/Cache_(computing))":  "https://en.a.example/wiki/Cache_(computing)",
		`{"url": "https://a.example/x"}`:                 "https://a.example/x",
		"https://user:s3cret@a.example/x":                "https://a.example/x",
		"a.example/x":                                    "https://a.example/x",
		"www.a.example":                                  "https://www.a.example",
		"https://":                                       "",
		"file:///etc/passwd":                             "",
		"what is a cache":                                "",
		"handbook.":                                      "",
		"https://a.example/" + strings.Repeat("x", 3000): "",
		"http://[::1":                                    "",
		"https://a.example/\x00evil":                     "https://a.example/",
		"https://a.example/größe":                        "https://a.example/gr%C3%B6%C3%9Fe",
		"https://a.example/a\nhttps://b.example/b":       "https://a.example/a",
		"javascript:alert(1)//https":                     "",
		"https://a.example/x%20y?q=1&r=2":                "https://a.example/x%20y?q=1&r=2",
	} {
		if got, _ := tools.PageAddress(query); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}
