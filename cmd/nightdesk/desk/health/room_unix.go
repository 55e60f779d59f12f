//go:build linux || darwin

package health

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// roomIn returns the free bytes in a directory, or in its nearest existing parent.
func roomIn(dir string) (bytes int64, known bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return 0, false
	}
	for {
		var s syscall.Statfs_t
		err := syscall.Statfs(dir, &s)
		if err == nil {
			return int64(s.Bavail) * int64(s.Bsize), true
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return 0, false
		}
		dir = parent
	}
}
