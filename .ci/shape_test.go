package main

import (
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want violations
	}{
		"all at the limit": {"\t_ = a && (b || !(c && d))\n//" + strings.Repeat("ü", 118) + strings.Repeat("\n", 76),
			violations{}},
		"a line":           {"//" + strings.Repeat("x", 119), violations{1, 0, 0}},
		"a function":       {strings.Repeat("\n", 80), violations{0, 1, 0}},
		"five terms":       {"\tif a || b && (c || !(d && e)) {\n\t}", violations{0, 0, 1}},
		"terms of its own": {"\t_ = a && b && f(func() bool { return a && b && c && d })", violations{}},
	} {
		got, _, err := inspect("x.go", []byte("package x\n\nfunc f() {\n"+tt.body+"\n}\n"))
		if err != nil || got != tt.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, tt.want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	known := map[string]violations{"old.go": {2, 0, 1}}
	for name, tt := range map[string]struct {
		found  map[string]violations
		worse  int
		better bool
	}{
		"as listed":            {map[string]violations{"old.go": {2, 0, 1}}, 0, false},
		"clean":                {nil, 0, true},
		"one kind for another": {map[string]violations{"old.go": {1, 0, 2}}, 1, true},
		"a new file":           {map[string]violations{"old.go": {2, 0, 1}, "new.go": {0, 1, 0}}, 1, false},
	} {
		if worse, better := compare(tt.found, known, nil); worse != tt.worse || better != tt.better {
			t.Errorf("%s: %d worse, better: %v", name, worse, better)
		}
	}
}
