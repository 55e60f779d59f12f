//go:build race

package scaletest

// Race reports whether the race detector is on. It makes most code about ten times slower.
const Race = true
