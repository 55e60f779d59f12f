package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"nightdesk/topicqueue/scaletest"
)

// link gives the program that is under test its name in dir: it is this test binary. The test is skipped where tests
// of other processes are.
func link(t *testing.T, dir string) string {
	t.Helper()
	scaletest.Processes(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "nightdesk")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}
