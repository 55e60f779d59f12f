package sandbox_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/tools/sandbox"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, program string
		time          time.Duration
		ended         sandbox.Ended
		stderr        string // else, in a program that ends by itself
	}{
		{name: "endless loop", program: "while True: pass", time: short, ended: sandbox.EndedTime},
		{name: "endless loop that catches all", program: "while True:\n    try:\n        while True: pass\n    except BaseException: pass", time: short, ended: sandbox.EndedTime},
		{name: "a computation in C", program: "print(len(str(7 ** (10 ** 8))))", time: short, ended: sandbox.EndedTime},
		{name: "memory at once", program: "x = bytearray(1 << 30)", ended: sandbox.EndedMemory},
		{name: "memory bit by bit", program: "x = []\nwhile True: x.append(bytearray(1 << 20))", ended: sandbox.EndedMemory},
		{name: "1 GB of output", program: "for i in range(1 << 20): print('x' * 1023)", ended: sandbox.EndedOutput},
		{name: "endless errors", program: "import sys\nwhile True: sys.stderr.write('x' * 1023)", ended: sandbox.EndedOutput},
		{name: "a directory", program: "import os\nos.mkdir('d')", stderr: "Error"},
		{name: "a deep recursion", program: "def f(n): return f(n + 1)\nf(0)", stderr: "RecursionError"},
		{name: "no end of input", program: "input()", stderr: "EOFError"},
		{name: "syntax", program: "print(", stderr: "SyntaxError"},
		{name: "a way out at once", program: "import os\nos._exit(7)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			run(t, cmp.Or(tc.time, long), tc.program, func(t *testing.T, out sandbox.Outcome) {
				if out.Ended != tc.ended || out.Exit == 0 || !strings.Contains(out.Stderr, tc.stderr) {
					t.Errorf("ended by %q, want %q", out.Ended, tc.ended)
				}
				if out.Took > cmp.Or(tc.time, long)+time.Minute { // the machine of the tests may be busy
					t.Errorf("it took %s", out.Took)
				}
				if len(out.Stdout) > 128<<10 || len(out.Stderr) > 128<<10+100 {
					t.Errorf("%d and %d bytes of output", len(out.Stdout), len(out.Stderr))
				}
			})
			t.Logf("%s", time.Since(start).Round(time.Millisecond))
		})
	}
}

// TestFullMemory: what a program writes counts as its memory, and nothing of it is on the host.
func TestFullMemory(t *testing.T) {
	t.Parallel()
	run(t, long, "import zipfile\nwith zipfile.ZipFile('bomb.zip', 'w') as z:\n    for i in range(400): z.writestr(str(i), bytes(1 << 20))\nprint('written')",
		func(t *testing.T, out sandbox.Outcome) {
			if out.Exit == 0 || strings.Contains(out.Stdout, "written") || len(out.Files) > 0 {
				t.Error("400 MB were written")
			}
		})
}

func TestFiguresComeOut(t *testing.T) {
	t.Parallel()
	run(t, long, `
import chart, os
chart.line("b.svg", [2020, 2021, 2022], {"A": [1, 4, 9], "B & <C>": [2, 3, 5]}, title="Growth", x="year", y="units")
chart.bar("a.svg", ["north", "south"], {"share": [0.3, -0.7]})
chart.line("c.svg", [2024, 2025], {"Ratio (%)": [110, 116], "Losses (m)": [7.9, 7.4]})
open("data.csv", "w").write("1,2")
open("big.svg", "wb").write(bytes(3 << 20))
open("data.csv", "a").write(",3")
assert open("data.csv").read() == "1,2,3"
print("done: ä")
`, func(t *testing.T, out sandbox.Outcome) {
		if out.Exit != 0 || out.Stdout != "done: ä\n" || len(out.Files) != 3 || out.Files[0].Name != "a.svg" || out.Files[1].Name != "b.svg" {
			t.Fatalf("%d files", len(out.Files))
		}
		figures, refused := sandbox.Figures(out.Files)
		if len(figures) != 3 || len(refused) != 0 || !strings.Contains(string(figures[1].Body), "B &amp; &lt;C&gt;") {
			t.Errorf("%d figures, refused %q", len(figures), refused)
		}
		// two series of different scales have an axis each: 116 left, 7.9 right
		for _, tick := range []string{`text-anchor="end" font-size="12">116<`, `text-anchor="start" font-size="12">7.9<`} {
			if !strings.Contains(string(out.Files[2].Body), tick) {
				t.Errorf("no %q in\n%s", tick, out.Files[2].Body)
			}
		}
	})
}

// TestRunsAreSeparate: a program leaves nothing for the next.
func TestRunsAreSeparate(t *testing.T) {
	t.Parallel()
	box := python(t, long)
	for range 2 {
		out, err := box.Run(t.Context(), "import sys\ntry: found = open('left.txt').read()\nexcept OSError: found = False\nprint(found, hasattr(sys, 'left'), sorted({'a', 'b', 'c'}, key=hash))\nsys.left = 1\nopen('left.txt', 'w').write('x')\nassert open('left.txt').read() == 'x'")
		if err != nil || out.Exit != 0 || !strings.HasPrefix(out.Stdout, "False False") {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	why := errors.New("the desk closes")
	box := python(t, long)
	ctx, cancel := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(time.Second, func() { cancel(why) })
	defer timer.Stop()
	start := time.Now()
	if _, err := box.Run(ctx, "while True: pass"); !errors.Is(err, why) || time.Since(start) > time.Minute {
		t.Errorf("%v after %s", err, time.Since(start))
	}
}

func TestUnknownModule(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/python.wasm"
	if _, err := sandbox.New(path, t.TempDir(), sandbox.DefaultLimits(time.Second)); err == nil {
		t.Error("a file that is not there is taken")
	}
	if err := os.WriteFile(path, []byte("not python"), 0o600); err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(path, t.TempDir(), sandbox.DefaultLimits(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Run(t.Context(), "print(1)"); err == nil {
		t.Error("a file that is no module runs programs")
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
