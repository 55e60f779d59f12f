package main

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// version is set by builds outside a checkout: -ldflags '-X main.version=v1.2.3'.
var version string

// versionText describes the build: version, revision and its date, and the Go version.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "unknown")
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	text := cmp.Or(version, info.Main.Version, "unknown")
	if revision := set["vcs.revision"]; revision != "" {
		text += " (" + revision[:min(12, len(revision))] + ", " + set["vcs.time"]
		if set["vcs.modified"] == "true" {
			text += ", modified"
		}
		text += ")"
	}
	return text + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
