//go:build !linux && !darwin

package main

// roomIn does not know here.
func roomIn(string) (bytes int64, known bool) { return 0, false }
