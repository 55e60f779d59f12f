package dialogue

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped discards unread input of a terminal.
func dropTyped(terminal *os.File) {
	_ = unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH) // an error means that it is not a terminal
}
