//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// OwnGroup prepares a command that is not yet started. kill ends it together with the processes that it has started.
func OwnGroup(cmd *exec.Cmd) (kill func() error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
