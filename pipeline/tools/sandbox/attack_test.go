package sandbox_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/tools/sandbox"
)

// TestMasses: programs that create masses of files or processes end within their time, and nothing of them remains.
func TestMasses(t *testing.T) {
	t.Parallel()
	const svg = `"<svg xmlns='http://www.w3.org/2000/svg'><title>t</title></svg>"`
	for _, tc := range []struct {
		name, program string
		ended         sandbox.Ended
		failed        bool
		files         int
		figures       int
		stdout        string
	}{
		{name: "fork bomb", program: `
import os, subprocess, sys
made = 0
for i in range(2000):
    try:
        if os.fork() == 0:
            while True: pass
        made += 1
    except (OSError, AttributeError): pass
    try:
        subprocess.Popen([sys.executable or "python", "-c", "while True: pass"])
        made += 1
    except (OSError, ValueError): pass
print("processes:", made)
`, stdout: "processes: 0\n"},
		{name: "thread bomb", program: `
import threading, time
made = 0
try:
    for i in range(100000):
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
        made += 1
except (RuntimeError, MemoryError) as e:
    print("refused")
print("few" if made < 100 else made)
`, stdout: "refused\nfew\n"},
		{name: "a figure that is too large", program: `
with open("a.svg", "w") as f:
    f.write("<svg><desc>")
    for i in range(3 << 10): f.write("x" * 1024)
    f.write("</desc></svg>")
open("b.svg", "w").write(` + svg + `)
print("done")
`, stdout: "done\n", files: 1, figures: 1},
		{name: "many figures", program: "for i in range(100): open('f%03d.svg' % i, 'w').write(" + svg + ")\nprint('done')", stdout: "done\n", files: 8, figures: 8},
		{name: "a figure that is a pipe", program: `
import os
try:
    os.mkfifo("a.svg")
except (OSError, AttributeError): pass
print("done")
`, stdout: "done\n"},
		{name: "a figure that comes after the end", program: `
import atexit
atexit.register(lambda: open("z.svg", "w").write("x" * (1 << 20)))
print("done")
`, stdout: "done\n", files: -1},
		{name: "an end that does not come", program: `
import atexit
def stay():
    while True: pass
atexit.register(stay)
`, ended: sandbox.EndedTime, failed: true, files: -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			limit := long
			if tc.ended == sandbox.EndedTime {
				limit = short
			}
			run(t, limit, tc.program, func(t *testing.T, out sandbox.Outcome) {
				if out.Ended != tc.ended || (out.Exit != 0) != tc.failed || !tc.failed && out.Stdout != tc.stdout {
					t.Errorf("ended by %q with %q", out.Ended, out.Stdout)
				}
				figures, refused := sandbox.Figures(out.Files)
				if tc.files >= 0 && (len(out.Files) != tc.files || len(figures) != tc.figures) {
					t.Errorf("%d files, %d figures, refused %q", len(out.Files), len(figures), refused)
				}
				for _, f := range figures {
					if len(f.Body) > 2<<20 || strings.Contains(f.Name, "/") {
						t.Errorf("figure %s of %d bytes", f.Name, len(f.Body))
					}
				}
			})
		})
	}
}
