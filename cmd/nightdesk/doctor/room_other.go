//go:build !linux && !darwin

package doctor

// roomIn does not know here.
func roomIn(string) (bytes int64, known bool) { return 0, false }
