// Package scaletest sets how much work tests do. By default a test does a small part of its work, which can still
// fail. With the environment variable FULL_TESTS set it does all of it, and with -short the slow tests are skipped.
package scaletest

import (
	"os"
	"testing"
	"time"
)

// Full reports whether tests do all of their work.
var Full = os.Getenv("FULL_TESTS") != ""

// Patience is how long a test waits for an expected event before it fails. It does not limit the speed of the
// program, because the machine may be busy.
const Patience = 5 * time.Minute

// Of returns full if FULL_TESTS is set, and small otherwise.
func Of[T any](small, full T) T {
	if Full {
		return full
	}
	return small
}

// Slow skips a test with -short: it works for seconds, or waits for seconds.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: without -short")
	}
}

// Processes skips a test of other processes with -short, because each of them takes a moment to start, and with the
// race detector, which sees one process only and makes it ten times slower.
func Processes(t testing.TB) {
	t.Helper()
	Slow(t)
	if Race && !Full {
		t.Skip("processes: without -race, or with FULL_TESTS=1")
	}
}
