package main

import (
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want int
	}{
		"all at the limit": {"\t_ = a && (b || !(c && d))\n//" + strings.Repeat("ü", 118) + strings.Repeat("\n", 76), 0},
		"a line":           {"//" + strings.Repeat("x", 119), 1},
		"a function":       {strings.Repeat("\n", 80), 1},
		"five terms":       {"\tif a || b && (c || !(d && e)) {\n\t}", 1},
		"terms of its own": {"\t_ = a && b && f(func() bool { return a && b && c && d })", 0},
	} {
		got, err := inspect("x.go", []byte("package x\n\nfunc f() {\n"+tt.body+"\n}\n"))
		if err != nil || len(got) != tt.want {
			t.Errorf("%s: %q, %v, want %d", name, got, err, tt.want)
		}
	}
}

func TestCodeLines(t *testing.T) {
	t.Parallel()
	text := "// A comment.\npackage x // 1\n\n/* more\nof it */\nvar a = `2\n3\n\n5`\n\nfunc f() { // 6\n} // 7\n"
	if got := codeLines([]byte(text)); got != 7 {
		t.Errorf("%d lines of code, want 7", got)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	budget := map[string]int{"jobs": 10, "pipeline/llm": 5}
	for name, tt := range map[string]struct {
		lines map[string]int
		over  int
	}{
		"as allowed": {map[string]int{"jobs": 10, "pipeline/llm": 5}, 0},
		"fewer":      {map[string]int{"jobs": 3}, 0},
		"more":       {map[string]int{"jobs": 11, "pipeline/llm": 5}, 1},
		"a new part": {map[string]int{"jobs": 10, "pipeline/x": 1}, 1},
	} {
		if over := compare(tt.lines, budget); len(over) != tt.over {
			t.Errorf("%s: %q", name, over)
		}
	}
}

func TestPart(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{"cmd/nightdesk/web": "cmd", "pipeline/llm/wire": "pipeline/llm", "config": "config"} {
		if got := part(dir); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}
