package main_test

import (
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"nightdesk/topicqueue/proctest"
)

// TestFewFiles works a batch with room for 64 files, which is too little for the default slots: the worker says what to
// raise, and takes as much work as fits.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no such limit")
	}
	const topics = 6
	f := newFleet(t, 20*time.Millisecond)
	f.enqueue(topics, "--preset", "quick")
	l := &logged{name: "worker", cmd: exec.Command("sh", "-c", `ulimit -n 64 && exec "$0" worker --log-level warn`, f.program)}
	l.cmd.Dir, l.cmd.Env, l.cmd.Stderr = f.dir, f.env, l
	proctest.Tie(l.cmd)
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.cmd.Process.Kill() })
	f.checkReports(topics, f.wait(topics))
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := l.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if log := l.text(); !strings.Contains(log, "working with 3 slots") || !strings.Contains(log, "ulimit -n 232") || strings.Contains(log, "too many open files") {
		t.Errorf("the worker says:\n%s", log)
	}
}
