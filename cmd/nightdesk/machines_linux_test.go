package main_test

import (
	"os"
	"os/exec"
	"syscall"
)

// hideOthers lets a command see nothing of what lies beside its directory: it gets a file system view of its own, in
// which an empty directory lies on the one above. The process stays the one that gets the signals.
func hideOthers(cmd *exec.Cmd, dir string) {
	const script = `set -e
others=$(dirname "$0"); own=$(TMPDIR=/tmp mktemp -d)
mount --make-rprivate /
mount --bind "$0" "$own"
mount -t tmpfs none "$others"
mkdir "$0"
mount --bind "$own" "$0"
umount "$own"
rmdir "$own"
cd "$0"
exec "$@"`
	args := append([]string{"sh", "-c", script, dir}, cmd.Args...)
	shell, err := exec.LookPath("sh")
	if err != nil {
		cmd.Err = err
		return
	}
	cmd.Path, cmd.Args, cmd.Err = shell, args, nil
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}
