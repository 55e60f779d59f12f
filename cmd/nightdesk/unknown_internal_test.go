package main

import "testing"

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "''", "deep": "deep", "kb-1.2/x_y": "kb-1.2/x_y", "What is $HOME?": "'What is $HOME?'", "it's": `'it'\''s'`, "`ls`": "'`ls`'", "Küche": "'Küche'",
	} {
		if got := shellQuote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
