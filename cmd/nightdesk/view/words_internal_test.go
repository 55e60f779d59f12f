package view

import "testing"

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{10: "10 bytes", 10 << 10: "10 KB", 300 << 20: "300 MB", 5 << 30: "5 GB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestEither(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := Either(names...); got != want {
			t.Errorf("%v: %q, want %q", names, got, want)
		}
	}
}
