package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHanging(t *testing.T) {
	t.Parallel()
	head, text := "failed  redis            ", "the Redis at redis://127.0.0.1:6379 does not answer: connection refused"
	hint := "Start it there, or correct REDIS_URL."
	want := []string{
		"failed  redis            the Redis at",
		"                         redis://127.0.0.1:6379 does",
		"                         not answer: connection refused",
		"                         Start it there, or correct",
		"                         REDIS_URL.",
	}
	if d := cmp.Diff(want, Hanging(56, head, text, hint)); d != "" {
		t.Error(d)
	}
	if got := Hanging(1<<20, head, text, hint); len(got) != 2 {
		t.Errorf("without a terminal: %q", got)
	}
}
