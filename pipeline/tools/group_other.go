//go:build !unix

package tools

import "os/exec"

// OwnGroup prepares a command before it starts. kill ends the command; without process groups, its children continue.
func OwnGroup(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
