// Package proctest makes processes started by tests end with the test binary, even if it is killed or times out and
// no cleanup runs. Only Linux supports this. On other systems both functions do nothing, and such processes must be
// ended by hand.
package proctest

import "os/exec"

// Tie makes a process that is not yet started end with this one, by SIGKILL.
func Tie(cmd *exec.Cmd) { tie(cmd) }

// TieSelf makes this process end with its parent, by SIGKILL. It is for a test binary that acts as the program under
// test, whose parent cannot use Tie. It has no effect if the parent has already ended.
func TieSelf() { tieSelf() }
