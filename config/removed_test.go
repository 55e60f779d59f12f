package config_test

import (
	"errors"
	"strings"
	"testing"

	"nightdesk/config"
)

func TestLoad_RemovedSettings(t *testing.T) {
	t.Parallel()
	_, err := tryLoad(t, "embedding:\n  provider: static\n", map[string]string{"EMBEDDING_PROVIDER": "static"},
		map[string]string{"embedding.provider": "static"})
	var problems config.Problems
	if !errors.As(err, &problems) || len(problems) != 3 {
		t.Fatalf("error %v, want a problem for the file, the environment and the flag", err)
	}
	for i, source := range []string{"nightdesk.yaml:2", "environment EMBEDDING_PROVIDER", "flag"} {
		p := problems[i]
		if p.Key != "embedding.provider" || !strings.HasSuffix(p.Source, source) || !strings.Contains(p.Reason, "EMBEDDING_BASE_URL") {
			t.Errorf("problem %d: %+v, want one from %s that names EMBEDDING_BASE_URL", i, p, source)
		}
	}
}
