package sandbox_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"nightdesk/pipeline/tools/sandbox"
)

// TestInheritedDescriptors: programs do not inherit descriptors that this process was started with, or that a library
// left open across exec.
func TestInheritedDescriptors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "private")
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	inherit := func(name string, fd int, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
	}
	for name, flags := range map[string]int{"read": unix.O_RDONLY, "append": unix.O_WRONLY | unix.O_APPEND} {
		fd, err := unix.Open(path, flags, 0) // without O_CLOEXEC, as a shell's 5<file
		inherit(name, fd, err)
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	inherit("directory", fd, err)
	high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 900)
	inherit("directory with a high number", high, err)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	inherit("socket", sock, err)
	address := &unix.SockaddrInet4{Port: server.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	if err := unix.Connect(sock, address); err != nil {
		t.Fatal(err)
	}
	peer, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Close() })

	program := `
import os
def works(call, *args, **named):
    try:
        call(*args, **named)
        return True
    except OSError:
        return False
print([fd for fd in range(1024) if works(os.fstat, fd)])
for fd in range(4, 1024):
    works(os.write, fd, b"written by a program")
    works(os.open, "private", os.O_RDWR | os.O_TRUNC, dir_fd=fd)
    works(os.open, "new", os.O_CREAT | os.O_RDWR, 0o644, dir_fd=fd)
`
	inEach(t, long, func(t *testing.T, box sandbox.Sandbox) {
		if box.Name() != sandbox.NameBubblewrap {
			t.Skip("it is about bubblewrap")
		}
		out, err := box.Run(t.Context(), program)
		if err != nil {
			t.Fatal(err)
		}
		if out.Stdout != "[0, 1, 2, 3]\n" { // input, output, error, and where its pictures leave
			t.Errorf("the program could use descriptors that are not its own: %s%s", out.Stdout, out.Stderr)
		}
	})
	if body, err := os.ReadFile(path); err != nil || string(body) != secret {
		t.Errorf("a program has changed a file of the host: %q, %v", body, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("a program has made a file of the host: %v, %v", entries, err)
	}
}
