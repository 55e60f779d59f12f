// Package proctest lets the processes that tests start end with them: also when the test binary is killed or ends by
// its timeout, and no cleanup runs. Linux alone offers this; elsewhere both functions do nothing, and such processes
// must be ended by hand.
package proctest

import "os/exec"

// Tie makes a process that is not yet started end with this one, by SIGKILL.
func Tie(cmd *exec.Cmd) { tie(cmd) }

// TieSelf makes this process end with the one that started it, by SIGKILL: for a test binary that acts as the program
// under test, whose starter cannot use Tie. It comes too late when that one has ended already.
func TieSelf() { tieSelf() }
