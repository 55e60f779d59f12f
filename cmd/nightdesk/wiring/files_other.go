//go:build !unix

package wiring

func fileLimit() int { return 0 }
