package main_test

import (
	"time"

	"nightdesk/topicqueue/scaletest"
)

// until waits for something that other programs do, which nothing announces here. t: of a test or a script.
func until(t interface{ Fatalf(string, ...any) }, what string, done func() bool) {
	for deadline := time.Now().Add(scaletest.Patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there is no sign of: %s", what)
		}
	}
}
