//go:build !linux && !darwin

package doctor

// roomIn always reports that the free space is unknown.
func roomIn(string) (bytes int64, known bool) { return 0, false }
