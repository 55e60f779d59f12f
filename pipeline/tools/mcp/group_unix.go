//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup prepares a command before it starts. kill ends the command and the processes that it started.
func ownGroup(cmd *exec.Cmd) (kill func() error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
