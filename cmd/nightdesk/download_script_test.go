package main_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// startIntranet starts a site whose pages want a password, send visitors elsewhere or are excluded by robots.txt, and
// sets SITE to its host and port. The server behind its redirects must not be visited, nor learn the password.
func startIntranet(ts *testscript.TestScript, _ bool, _ []string) {
	var visits atomic.Int32
	behind := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	ts.Defer(func() {
		behind.Close()
		if visits.Load() > 0 {
			ts.Fatalf("the server behind the redirects was visited")
		}
	})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(behind.URL, "http://"))
	ts.Check(err)
	elsewhere := map[string]string{
		"/to/port": "127.0.0.1:" + port, "/to/mapped": "[::ffff:127.0.0.1]:" + port, "/to/zero": "0.0.0.0:" + port,
		"/to/metadata": "169.254.169.254", "/to/local": "[fd00::1]",
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		to := elsewhere[r.URL.Path]
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprintln(w, "User-agent: *\nDisallow: /private")
		case to != "":
			http.Redirect(w, r, "http://user:stolen@"+to+"/", http.StatusFound)
		case password != "hunter2":
			http.Error(w, "no", http.StatusUnauthorized)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/tides", http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><body><main><h1>Tides</h1><p>Spring tides are caused by the sun and the moon.</p></main></body></html>")
		}
	}))
	ts.Defer(site.Close)
	ts.Setenv("SITE", strings.TrimPrefix(site.URL, "http://"))
}
