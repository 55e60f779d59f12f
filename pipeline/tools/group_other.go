//go:build !unix

package tools

import "os/exec"

// OwnGroup prepares a command that is not yet started. kill ends it; systems without process groups keep its children.
func OwnGroup(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
