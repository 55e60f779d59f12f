package config_test

import (
	"errors"
	"strings"
	"testing"

	"nightdesk/config"
)

// Each removed setting is a problem that names its replacement, wherever it is set.
func TestLoad_RemovedSettings(t *testing.T) {
	t.Parallel()
	known := map[string]string{}
	for _, s := range config.Settings() {
		known[s.Path] = s.Env
	}
	for _, path := range config.Removed() {
		if known[path] != "" {
			t.Errorf("%s is removed, but still a setting", path)
		}
		_, err := tryLoad(t, path+": x\n", nil, map[string]string{path: "x"})
		var problems config.Problems
		if !errors.As(err, &problems) || len(problems) != 2 {
			t.Fatalf("%s: error %v, want a problem for the file and the flag", path, err)
		}
		for _, p := range problems {
			if p.Key != path || !strings.HasPrefix(p.Reason, "was removed: ") {
				t.Errorf("problem %+v", p)
			}
		}
	}
	for env, want := range map[string]string{
		"NIGHTDESK_RETENTION_RUN_DAYS": "set retention.days",
		"LLM_NOTE_TEMPERATURE":         "set llm.temperature",
		"S3_PUBLIC_ENDPOINT":           "AWS_ENDPOINT_URL_S3",
		"REDIS_CA_FILE":                "SSL_CERT_DIR",
		"CROSSREF_MAILTO":              "without an address",
		"NIGHTDESK_FETCH_PER_HOST":     "it is always 1s",
		"EMBEDDING_PROVIDER":           "set EMBEDDING_MODEL",
		"NIGHTDESK_ANSWERING_PATH":     "set preset to shallow",
		"NIGHTDESK_CODE_TIME_LIMIT":    "it is always 20s",
		"NIGHTDESK_WEBHOOK_EVENTS":     "all events are sent",
		"NIGHTDESK_LIMITS_BLOCK_SOFT":  "set limits.run_duration",
		"EMBEDDING_DIMENSIONS":         "kb add --reembed",
		"LLM_MAX_TRIES":                "it is always 10",
	} {
		_, err := tryLoad(t, "", map[string]string{env: "x"}, nil)
		if err == nil || !strings.Contains(err.Error(), "environment "+env+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", env, err, want)
		}
	}
	c, err := tryLoad(t, "", map[string]string{"S3_ENDPOINT": "http://127.0.0.1:7070", "S3_REGION": "x"}, nil)
	if want := (config.S3{Endpoint: config.Variable{Name: "S3_ENDPOINT", Value: "http://127.0.0.1:7070"},
		Region: config.Variable{Name: "S3_REGION", Value: "x"}}); err != nil || c.S3 != want {
		t.Errorf("variables that are still read: %+v, %v", c.S3, err)
	}
}
