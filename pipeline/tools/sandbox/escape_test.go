package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"nightdesk/pipeline/tools/sandbox"
)

// TestEscapes: every program attempts forbidden actions and prints ESCAPED if one succeeds.
func TestEscapes(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "nightdesk-host") // not t.TempDir: readable by all, so that only the sandbox hides it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "mark")
	if err := os.WriteFile(mark, []byte(secret), 0o666); err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var visitors atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			visitors.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
		if visitors.Load() > 0 {
			t.Error("a program has reached a server")
		}
	})
	victim := hostProcess(t)

	const try = `
def attempt(call):
    try:
        print("ESCAPED", call())
    except BaseException as e:
        print("refused:", type(e).__name__)
`
	for name, program := range map[string]string{
		"files of the host": fmt.Sprintf(`
for p in [%q, %q, "/etc/passwd", "/etc/shadow", "../etc/passwd", "../../../../../../etc/passwd", "/scratch/../etc/passwd", "/usr/bin/env"]:
    attempt(lambda: open(p).read())
    attempt(lambda: open(p, "w").write("x"))
import os
for p in [%q, "/root", "/home", "/tmp"]:
    attempt(lambda: os.listdir(p))
`, mark, filepath.Join(home, ".bashrc"), dir),
		"links out of the scratch directory": fmt.Sprintf(`
import os
for i, p in enumerate([%q, "/etc/passwd", "../etc/passwd"]):
    try:
        os.symlink(p, "link%%d.svg" %% i)
    except OSError as e:
        print("refused:", e)
    attempt(lambda: open("link%%d.svg" %% i).read())
    attempt(lambda: os.link(p, "hard%%d.svg" %% i))
`, mark),
		"network": fmt.Sprintf(`
import socket
port = %d
attempt(lambda: socket.create_connection(("127.0.0.1", port), 2))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)))
attempt(lambda: socket.getaddrinfo("example.org", 80))
def get():
    import urllib.request
    return urllib.request.urlopen("http://127.0.0.1:%%d/" %% port, timeout=2).read()
attempt(get)
`, server.Addr().(*net.TCPAddr).Port),
		"processes": `
import os
attempt(lambda: os.fork())
attempt(lambda: __import__("subprocess").run(["/bin/sh", "-c", "id"]))
attempt(lambda: 1 // 0 if os.system("id") != 0 else "system")
attempt(lambda: os.execv("/bin/sh", ["sh"]))
attempt(lambda: os.posix_spawn("/bin/sh", ["sh"], {}))
attempt(lambda: __import__("multiprocessing").Pool(1).map(abs, [1]))
`,
		"signals": fmt.Sprintf(`
import os, signal
for pid in [%d, %d, %d]:
    attempt(lambda: os.kill(pid, signal.SIGKILL))
`, os.Getpid(), os.Getppid(), victim.Process.Pid),
		"/proc": fmt.Sprintf(`
for p in ["/proc/self/environ", "/proc/1/environ", "/proc/%d/environ", "/proc/self/root/etc/passwd", "/proc/self/maps", "/sys/kernel", "/dev/mem", "/dev/sda"]:
    attempt(lambda: open(p, "rb").read(100))
`, os.Getpid()),
		"environment": `
import os
print(dict(os.environ))
if "NIGHTDESK_TEST_SECRET" in os.environ or "PATH" in os.environ:
    print("ESCAPED")
`,
		"system calls by number": `
def call(*args):
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    r = libc.syscall(*args)
    if r < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return r
import platform
if platform.machine() == "x86_64":
    attempt(lambda: call(41, 2, 1, 0))          # socket
    attempt(lambda: call(57))                   # fork
    attempt(lambda: call(272, 0x10000000))      # unshare of the user namespace
    attempt(lambda: call(319, b"x", 0))         # memfd_create
    attempt(lambda: call(0x40000000 + 41, 2, 1, 0))
    attempt(lambda: call(425, 1, 0))            # io_uring_setup
else:
    print("not tried here")
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, long, try+program, func(t *testing.T, out sandbox.Outcome) {
				if strings.Contains(out.Stdout, "ESCAPED") || out.Ended != sandbox.EndedItself {
					t.Error("the program has escaped, or not ended by itself")
				}
				if out.Stdout == "" {
					t.Error("the program has said nothing")
				}
				for _, f := range out.Files {
					t.Errorf("a figure came out: %s", f.Name)
				}
			})
			if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
				t.Errorf("a program has ended a process of the host: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if body, err := os.ReadFile(mark); err != nil || string(body) != secret {
			t.Errorf("a program has changed a file of the host: %q, %v", body, err)
		}
	})
}
