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
		{name: "a picture of ten thousand pixels a side", program: `
import struct, zlib
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
with open("a.png", "wb") as f:
    f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 10000, 10000, 1, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(12510000))) + chunk(b"IEND", b""))
print("done")
`, stdout: "done\n", files: 1},
		{name: "many figures", program: "for i in range(100): open('f%03d.svg' % i, 'w').write(" + svg + ")\nprint('done')", stdout: "done\n", files: 8, figures: 8},
		{name: "too many figures", program: "for i in range(10 ** 6): open('f%06d.svg' % i, 'w').write(" + svg + ")", ended: sandbox.EndedFiles, failed: true, files: -1},
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
			each(t, limit, tc.program, func(t *testing.T, out sandbox.Outcome) {
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

// TestMatplotlib: drawings of Matplotlib pass the rules for drawings unchanged.
func TestMatplotlib(t *testing.T) {
	t.Parallel()
	each(t, long, `
try:
    import numpy as np
    import matplotlib.pyplot as plt
except ImportError:
    print("not installed")
    raise SystemExit
fig, (a, b) = plt.subplots(2)
x = np.linspace(0, 10, 300)
a.plot(x, np.sin(x), label="sine")
a.scatter(x[::10], np.cos(x[::10]), c=x[::10])
a.set_title("Waves by time")
a.legend()
b.imshow(np.outer(x, x))
b.set_xlabel("$\\sqrt{x}$")
fig.savefig("waves_by_time.svg")
fig.savefig("waves_by_time.png")
print("drawn")
`, func(t *testing.T, out sandbox.Outcome) {
		if out.Stdout == "not installed\n" {
			t.Skip("the Python of this sandbox has no Matplotlib")
		}
		figures, refused := sandbox.Figures(out.Files)
		if out.Stdout != "drawn\n" || len(figures) != 2 || len(refused) != 0 {
			t.Fatalf("%d figures, refused %q", len(figures), refused)
		}
		if figures[0].Ext != "png" || figures[1].Title != "waves by time" {
			t.Errorf("%s, %q", figures[0].Ext, figures[1].Title)
		}
		svg := string(figures[1].Body)
		for _, part := range []string{"<use ", "<clipPath ", "url(#", "data:image/png;base64,", "<style "} {
			if !strings.Contains(string(out.Files[1].Body), part) || !strings.Contains(svg, part) {
				t.Errorf("%s is lost", part)
			}
		}
	})
}
