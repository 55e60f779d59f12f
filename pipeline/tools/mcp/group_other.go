//go:build !unix

package mcp

import "os/exec"

// ownGroup prepares a command before it starts. kill ends the command; without process groups, its children continue.
func ownGroup(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
