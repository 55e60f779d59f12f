package corpustest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Site is where a web for tests stands: on all loopback addresses of this machine, with its search engine on the first.
type Site struct{ Port string }

// Serve serves a web until the test ends.
func Serve(t testing.TB, web http.Handler) Site {
	t.Helper()
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: web}}
	server.Start()
	t.Cleanup(server.Close)
	return Site{port}
}

// SearchURL is the address of the search engine, as SEARXNG_URL has it.
func (s Site) SearchURL() string { return "http://127.0.0.1:" + s.Port }

// Allow is what fetch.allow must say for the pages to be reached.
func (s Site) Allow() string { return "127.0.0.0/8" }
