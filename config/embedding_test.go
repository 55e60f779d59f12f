package config_test

import (
	"strings"
	"testing"

	"nightdesk/config"
)

// A key is sent only to the server that it was set for.
func TestEmbedding_Key(t *testing.T) {
	t.Parallel()
	const local, other = "http://127.0.0.1:11434/v1", "http://127.0.0.1:8080/v1"
	for _, tc := range []struct {
		name      string
		file      string
		env       map[string]string
		base, key string
	}{
		{"all of its own", "", map[string]string{"EMBEDDING_BASE_URL": other, "EMBEDDING_API_KEY": "own", "LLM_BASE_URL": local, "LLM_API_KEY": "llm"}, other, "own"},
		{"as the model's", "", map[string]string{"LLM_BASE_URL": local, "LLM_API_KEY": "llm"}, local, "llm"},
		{"the same server, another path", "", map[string]string{"LLM_BASE_URL": "https://h:443/v1", "LLM_API_KEY": "llm", "EMBEDDING_BASE_URL": "https://H/embed/v1"}, "https://H/embed/v1", "llm"},
		{"another port", "", map[string]string{"LLM_BASE_URL": local, "LLM_API_KEY": "llm", "EMBEDDING_BASE_URL": other}, other, ""},
		{"no TLS", "", map[string]string{"LLM_BASE_URL": "https://h/v1", "LLM_API_KEY": "llm", "EMBEDDING_BASE_URL": "http://h/v1"}, "http://h/v1", ""},
		{"both are OpenAI's", "", map[string]string{"LLM_API_KEY": "llm", "EMBEDDING_BASE_URL": "https://api.openai.com/v1"}, "https://api.openai.com/v1", "llm"},
		{"OpenAI for embeddings only", "", map[string]string{"LLM_BASE_URL": local, "LLM_API_KEY": "llm", "OPENAI_API_KEY": "common", "EMBEDDING_BASE_URL": "https://api.openai.com/v1"}, "https://api.openai.com/v1", "common"},
		{"the common key stays at OpenAI", "", map[string]string{"LLM_BASE_URL": local, "LLM_API_KEY": "llm", "OPENAI_API_KEY": "common", "EMBEDDING_BASE_URL": other}, other, ""},
		{"the common key, no model", "", map[string]string{"OPENAI_API_KEY": "common"}, "", "common"},
		{"switched off", "embedding: {api_key: \"\"}\n", map[string]string{"LLM_BASE_URL": local, "LLM_API_KEY": "llm"}, local, ""},
		{"from the file", "embedding: {base_url: \"" + other + "\", api_key: filed}\n", map[string]string{"OPENAI_API_KEY": "common"}, other, "filed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.env["EMBEDDING_MODEL"] = "m"
			if tc.env["LLM_BASE_URL"] != "" {
				tc.env["LLM_MODEL"] = "chat"
			}
			e := load(t, tc.file, tc.env, nil).Embedding
			if e.BaseURL.Reveal() != tc.base || e.APIKey.Reveal() != tc.key {
				t.Errorf("base URL %q, key %q, want %q and %q", e.BaseURL.Reveal(), e.APIKey.Reveal(), tc.base, tc.key)
			}
			if e.Model != "m" || !e.Enabled() {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestEmbedding_Problems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"neither key nor server", map[string]string{"EMBEDDING_MODEL": "m"}, "set EMBEDDING_API_KEY or OPENAI_API_KEY"},
		{"a key for another server only", map[string]string{"EMBEDDING_MODEL": "m", "EMBEDDING_BASE_URL": "https://api.openai.com/v1",
			"LLM_MODEL": "c", "LLM_BASE_URL": "http://h/v1", "LLM_API_KEY": "hidden-key"}, "set EMBEDDING_API_KEY"},
		{"no address", map[string]string{"EMBEDDING_MODEL": "m", "EMBEDDING_BASE_URL": "localhost:1"}, "embedding.base_url"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load("", false, func(name string) string { return tc.env[name] }, nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hidden") || strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("error %v, want one that contains %q", err, tc.want)
			}
		})
	}
}

func TestEmbedding_Notices(t *testing.T) {
	t.Parallel()
	c := load(t, "", map[string]string{"EMBEDDING_BASE_URL": "http://h/v1", "OPENAI_API_KEY": "common", "LLM_MODEL": "m"}, nil)
	if n := c.Notices(); len(n) != 1 || !strings.HasPrefix(n[0], "EMBEDDING_BASE_URL ") || !strings.Contains(n[0], "EMBEDDING_MODEL") {
		t.Errorf("notices %q", n)
	}
	if c.Embedding.Enabled() {
		t.Error("enabled without a model")
	}
	if n := load(t, "", map[string]string{"OPENAI_API_KEY": "common", "LLM_MODEL": "m", "EMBEDDING_MODEL": "e"}, nil).Notices(); len(n) != 0 {
		t.Errorf("notices %q", n)
	}
}
