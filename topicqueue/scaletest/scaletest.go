// Package scaletest sets how much work tests do. By default a test does a small part of its work, which can still
// fail. With the environment variable FULL_TESTS set it does all of it.
package scaletest

import (
	"os"
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
