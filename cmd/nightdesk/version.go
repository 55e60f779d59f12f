package main

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// version is set by builds outside a checkout: -ldflags '-X main.version=v1.2.3'.
var version string

// versionText describes the build: version, in a build of a checkout with revision and date, and the Go version.
func versionText() string {
	text := version
	if info, ok := debug.ReadBuildInfo(); ok {
		text = cmp.Or(text, info.Main.Version)
	}
	return cmp.Or(text, "unknown") + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
