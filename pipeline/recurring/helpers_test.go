package recurring_test

import (
	"strings"
	"testing"
)

func replaced(t *testing.T, s, old, now string) string {
	t.Helper()
	if !strings.Contains(s, old) {
		t.Fatalf("%q is not there", old)
	}
	return strings.Replace(s, old, now, 1)
}
