package llmtest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// NewServer serves handler (usually a *Stub) on a loopback address until the test ends, and returns the base URL for
// llm.RoleSettings.
func NewServer(t testing.TB, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections() // do not wait for a drip
		server.Close()
	})
	return server.URL + "/v1"
}

// NewDownServer returns a base URL whose port refuses connections.
func NewDownServer(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	url := "http://" + listener.Addr().String() + "/v1"
	if err := listener.Close(); err != nil {
		t.Fatalf("close the port: %v", err)
	}
	return url
}

// Memory serves an http.Client within the process, without sockets. As its Transport it allows calls inside
// testing/synctest, where time is simulated.
type Memory struct{ Handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (m Memory) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	recorder := httptest.NewRecorder()
	m.Handler.ServeHTTP(recorder, req)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}
