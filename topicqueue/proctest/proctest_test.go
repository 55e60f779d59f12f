package proctest_test

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"nightdesk/topicqueue/proctest"
	"nightdesk/topicqueue/scaletest"
)

// roleEnv is the environment variable with the role of a process of TestKilledParent.
const roleEnv = "PROCTEST_ROLE"

// TestKilledParent: killing a process also ends the processes tied to it, directly or indirectly.
func TestKilledParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes cannot be tied here")
	}
	for _, role := range []string{"tie", "tie self"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			parent := exec.Command(os.Args[0], "-test.run", "^TestProcess$")
			parent.Env = append(os.Environ(), roleEnv+"="+role)
			alive, w, err := os.Pipe() // open as long as one of the processes lives
			if err != nil {
				t.Fatal(err)
			}
			defer alive.Close()
			parent.Stdout = w
			err = parent.Start()
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(alive, make([]byte, len("ready"))); err != nil {
				t.Fatal(err)
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // it was killed
			if _, err := io.Copy(io.Discard, alive); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestProcess is a process of TestKilledParent. The parent starts the child, which reports that it is ready and keeps
// running.
func TestProcess(*testing.T) {
	child := exec.Command(os.Args[0], "-test.run", "^TestProcess$")
	child.Stdout = os.Stdout
	switch os.Getenv(roleEnv) {
	case "tie":
		child.Env = append(os.Environ(), roleEnv+"=child")
		proctest.Tie(child)
		_ = child.Run() // it does not end before this process
	case "tie self":
		child.Env = append(os.Environ(), roleEnv+"=child that ties itself")
		_ = child.Run() // as above
	case "child that ties itself":
		proctest.TieSelf()
		fallthrough
	case "child":
		_, _ = os.Stdout.WriteString("ready")
		time.Sleep(scaletest.Patience)
	}
}
