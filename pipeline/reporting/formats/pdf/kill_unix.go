//go:build unix

package pdf

import (
	"os/exec"
	"syscall"
)

// killWhole makes the end of cmd's context kill the program and all processes that it started.
func killWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
