//go:build !unix

package main

func fileLimit() int { return 0 }
