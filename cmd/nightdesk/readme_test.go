package main_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"nightdesk/config"
)

var update = flag.Bool("update", false, "rewrite what is generated")

// TestReadmeListsEverySetting keeps the table of settings in the README equal to the one that the settings make.
func TestReadmeListsEverySetting(t *testing.T) {
	const path = "../../README.md"
	const begin, end = "a test keeps it complete -->\n", "<!-- end of settings -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("README.md has no place for the settings")
	}
	want := before + begin + "\n" + config.MarkdownTable() + "\n" + end + after
	if string(data) == want {
		return
	}
	if !*update {
		t.Fatal("the table of settings in README.md is not the effective one; rewrite it with `go test ./cmd/nightdesk -update`")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
