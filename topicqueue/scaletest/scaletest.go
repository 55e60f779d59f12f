// Package scaletest tells tests how much to do. By default a test does a small part of its work, which can still fail.
// With the environment variable FULL_TESTS set it does all of it.
package scaletest

import (
	"os"
	"time"
)

// Full reports whether tests do all of their work.
var Full = os.Getenv("FULL_TESTS") != ""

// Patience is how long a test waits for an event that must come, before it fails. It is no limit on the speed of the
// program: the machine may be busy.
const Patience = 5 * time.Minute

// Of returns full with FULL_TESTS set, and small without.
func Of[T any](small, full T) T {
	if Full {
		return full
	}
	return small
}
