//go:build unix

package wiring

import "syscall"

// fileLimit returns how many files this process may have open; 0: not known or without limit.
func fileLimit() int {
	var limit syscall.Rlimit
	const most = 1 << 30
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || uint64(limit.Cur) > most {
		return 0
	}
	return int(limit.Cur)
}
