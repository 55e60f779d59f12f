//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// OwnGroup prepares a command before it starts. kill ends the command and the processes that it started.
func OwnGroup(cmd *exec.Cmd) (kill func() error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
