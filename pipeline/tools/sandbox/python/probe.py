import os
import resource
import signal
import socket
import sys


def must_fail(what, call):
    try:
        call()
    except (OSError, MemoryError, ValueError):
        return
    sys.exit("a program could " + what)


if os.getuid() != 65534 or os.geteuid() != 65534 or os.getgid() != 65534:
    sys.exit("a program is user %d, group %d" % (os.getuid(), os.getgid()))
must_fail("read files of the host", lambda: os.listdir(HOST))
for path in ["/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/1/environ", "/sys", "/home", "/root", "/run", "/tmp", "/usr/bin/env", "/bin/sh"]:
    if os.path.exists(path):
        sys.exit("a program sees " + path)
for directory in ["/", "/usr/lib", "/dev", "/etc"]:
    must_fail("write to " + directory, lambda: open(directory + "/nightdesk-probe", "w"))
for descriptor in range(3, 1024):
    if descriptor != EXPORT:
        must_fail("use the descriptor %d" % descriptor, lambda: os.fstat(descriptor))
must_fail("open a socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
must_fail("open a datagram socket", lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
must_fail("make a process", os.fork)
if os.getpid() > 10 or os.getppid() > 1:
    sys.exit("a program sees the process ids of the host")
must_fail("raise a limit", lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY * 2, MEMORY * 2)))
must_fail("take more memory", lambda: bytearray(MEMORY))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for size, what in ((DISK + (1 << 20), "write a file beyond the limit"), (DISK, "fill the disk")):
    def fill():
        with open("fill%d" % size, "wb") as f:
            f.write(b"x" * size)
            f.flush()
        with open("more%d" % size, "wb") as f:
            f.write(b"x" * (1 << 20))
    must_fail(what, fill)
for name in os.listdir("."):
    os.unlink(name)
for name in os.environ:
    if name not in ("HOME", "LANG", "PWD", "LC_CTYPE") and not name.startswith(("PYTHON", "OPENBLAS_", "OMP_", "MPL")):
        sys.exit("a program sees the variable " + name)
print("isolated")
