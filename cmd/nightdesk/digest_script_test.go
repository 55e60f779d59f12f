package main_test

import (
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// waitDigest waits until a batch has its digest: digested BATCH.
func waitDigest(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if ts.Exec("nightdesk", "digest", args[0], "--path") == nil {
			return
		}
	}
	ts.Fatalf("batch %s has no digest", args[0])
}
