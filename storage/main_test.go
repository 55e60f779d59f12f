package storage_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a goroutine is left behind. Connections that wait for their next request end on their own.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
	)
}
