package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"nightdesk/topicqueue/scaletest"
)

// program returns the path of a program that is nightdesk under that name: this test binary, or, with the race
// detector, the same built without it. The race detector makes a process ten times slower. Some scripts
// (TestScripts) run every command with it, and all tests do with FULL_TESTS set.
var program = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil || !scaletest.Race || scaletest.Full {
		return self, err
	}
	out := filepath.Join(os.Getenv("TEST_BUILD_DIR"), "program")
	if text, err := exec.Command("go", "test", "-c", "-race=false", "-o", out, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program without the race detector: %w\n%s", err, text)
	}
	return out, nil
})

// link gives the program that is under test its name in dir.
func link(t *testing.T, dir string) string {
	t.Helper()
	built, err := program()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "nightdesk")
	if err := os.Symlink(built, name); err != nil {
		t.Fatal(err)
	}
	return name
}
