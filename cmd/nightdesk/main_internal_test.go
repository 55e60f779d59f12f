package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary serve as the program: scripts and process tests run the real thing.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nightdesk": main})
}
