package corpustest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Site is a web for tests on all loopback addresses of this machine, with its search engine on the first address.
type Site struct{ Port string }

// Serve serves web until the test ends.
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

// SearchURL returns the address of the search engine, in the format of SEARXNG_URL.
func (s Site) SearchURL() string { return "http://127.0.0.1:" + s.Port }

// Allow returns the value of fetch.allow that makes the pages reachable.
func (s Site) Allow() string { return "127.0.0.0/8" }
