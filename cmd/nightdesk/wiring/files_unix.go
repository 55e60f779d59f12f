//go:build unix

package wiring

import "syscall"

// fileLimit returns the maximum number of open files of this process, or 0 if it is unknown or unlimited.
func fileLimit() int {
	var limit syscall.Rlimit
	const most = 1 << 30
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > most {
		return 0
	}
	return int(limit.Cur)
}
