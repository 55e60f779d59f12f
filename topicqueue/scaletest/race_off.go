//go:build !race

package scaletest

// Race reports whether the race detector is enabled. It makes most code about ten times slower.
const Race = false
