package doctor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDoctorFits(t *testing.T) {
	t.Parallel()
	c := checkup{Name: "redis", Result: "failed",
		Text: "the Redis at redis://127.0.0.1:6379 does not answer: connection refused",
		Hint: "Start it there, or correct REDIS_URL."}
	want := []string{
		"failed  redis            the Redis at",
		"                         redis://127.0.0.1:6379 does",
		"                         not answer: connection refused",
		"                         Start it there, or correct",
		"                         REDIS_URL.",
	}
	if d := cmp.Diff(want, linesOf(c, 56)); d != "" {
		t.Error(d)
	}
	if got := linesOf(c, 1<<20); len(got) != 2 {
		t.Errorf("without a terminal: %q", got)
	}
}
