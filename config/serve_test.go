package config_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestServe_ReadToken: a read-only token needs a full token.
func TestServe_ReadToken(t *testing.T) {
	t.Parallel()
	for env, want := range map[[2]string]string{
		{"", ""}: "", {"all", ""}: "", {"all", "read"}: "",
		{"", "read"}: "it needs serve.token", {"same", "same"}: "it must differ from serve.token",
	} {
		_, err := tryLoad(t, "", map[string]string{"NIGHTDESK_SERVE_TOKEN": env[0],
			"NIGHTDESK_SERVE_READ_TOKEN": env[1]}, nil)
		if said := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%q: %v, want %q", env, err, want)
		}
	}
}
