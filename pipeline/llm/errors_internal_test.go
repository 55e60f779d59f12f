package llm

import "testing"

// A key is redacted in server messages, but a word that means "no key" is not.
func TestRedact(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, key, want string }{
		{"bad key a1b2c3d4", "a1b2c3d4", "bad key [redacted]"},
		{"none of the models", "none", "none of the models"},
		{"bad key sk-abcdefgh", "", "bad key [redacted]"},
	} {
		if got := redact(tc.text, tc.key); got != tc.want {
			t.Errorf("redact(%q, %q) = %q, want %q", tc.text, tc.key, got, tc.want)
		}
	}
}
