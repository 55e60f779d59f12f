package config_test

import (
	"strings"
	"testing"

	"nightdesk/config"
)

// A key and an address are used only for their provider.
func TestProvider_KeysAndServers(t *testing.T) {
	t.Parallel()
	all := map[string]string{"OPENAI_API_KEY": "openai-key", "ANTHROPIC_API_KEY": "anthropic-key", "OPENAI_BASE_URL": "http://common/v1", "OLLAMA_HOST": "gpu", "LLM_MODEL": "m"}
	for _, tc := range []struct {
		name              string
		file              string
		env               map[string]string
		key, base         string // of the main model
		noteKey, noteBase string // of one role
	}{
		{"openai", "", nil, "openai-key", "http://common/v1", "openai-key", "http://common/v1"},
		{"anthropic", "", map[string]string{"LLM_PROVIDER": "anthropic"}, "anthropic-key", "https://api.anthropic.com/v1", "anthropic-key", "https://api.anthropic.com/v1"},
		{"ollama", "", map[string]string{"LLM_PROVIDER": "ollama"}, "", "http://gpu:11434", "", "http://gpu:11434"},
		{"ollama by default", "llm: {provider: ollama}\n", map[string]string{"OLLAMA_HOST": ""}, "", "http://127.0.0.1:11434", "", "http://127.0.0.1:11434"},
		{"our own come first", "", map[string]string{"LLM_PROVIDER": "anthropic", "LLM_API_KEY": "own", "LLM_BASE_URL": "http://own"}, "own", "http://own", "own", "http://own"},
		{"own server of ollama", "", map[string]string{"LLM_PROVIDER": "ollama", "LLM_BASE_URL": "http://own:1"}, "", "http://own:1", "", "http://own:1"},
		{"switched off in the file", "llm: {provider: anthropic, api_key: \"\", base_url: \"http://own\"}\n", nil, "", "http://own", "", "http://own"},
		{"a role with another provider", "", map[string]string{"LLM_PROVIDER": "anthropic", "LLM_NOTE_PROVIDER": "ollama", "LLM_NOTE_MODEL": "small", "LLM_API_KEY": "own"},
			"own", "https://api.anthropic.com/v1", "", "http://gpu:11434"},
		{"a role of openai's", "", map[string]string{"LLM_PROVIDER": "ollama", "LLM_NOTE_PROVIDER": "openai", "LLM_NOTE_MODEL": "small"},
			"", "http://gpu:11434", "openai-key", "http://common/v1"},
		{"a role of openai's own", "", map[string]string{"LLM_PROVIDER": "ollama", "LLM_NOTE_PROVIDER": "openai", "LLM_NOTE_MODEL": "small", "OPENAI_BASE_URL": ""},
			"", "http://gpu:11434", "openai-key", ""},
		{"a role with all of its own", "", map[string]string{"LLM_NOTE_PROVIDER": "anthropic", "LLM_NOTE_MODEL": "small", "LLM_NOTE_API_KEY": "note", "LLM_NOTE_BASE_URL": "http://note"},
			"openai-key", "http://common/v1", "note", "http://note"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			for _, m := range []map[string]string{all, tc.env} {
				for k, v := range m {
					env[k] = v
				}
			}
			l := load(t, tc.file, env, nil).LLM
			if got := l.Writer; got.APIKey.Reveal() != tc.key || got.BaseURL.Reveal() != tc.base || got.Provider != l.Main.Provider {
				t.Errorf("main: key %q, server %q, provider %q", got.APIKey.Reveal(), got.BaseURL.Reveal(), got.Provider)
			}
			if got := l.Note; got.APIKey.Reveal() != tc.noteKey || got.BaseURL.Reveal() != tc.noteBase {
				t.Errorf("role: key %q, server %q", got.APIKey.Reveal(), got.BaseURL.Reveal())
			}
		})
	}
}

func TestProvider_OllamaHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"127.0.0.1": "http://127.0.0.1:11434", "0.0.0.0": "http://127.0.0.1:11434", "0.0.0.0:8080": "http://127.0.0.1:8080", ":9000": "http://127.0.0.1:9000",
		"gpu": "http://gpu:11434", "gpu:1": "http://gpu:1", "gpu:": "http://gpu:11434", "http://gpu": "http://gpu:80", "https://gpu/ollama/": "https://gpu:443/ollama",
		"http://gpu:11434": "http://gpu:11434", "[::1]": "http://[::1]:11434", "[::]:11434": "http://127.0.0.1:11434", "::1": "http://[::1]:11434", " gpu ": "http://gpu:11434",
	} {
		c := load(t, "", map[string]string{"LLM_PROVIDER": "ollama", "LLM_MODEL": "m", "OLLAMA_HOST": text}, nil)
		if got := c.LLM.Main.BaseURL.Reveal(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, err := tryLoad(t, "", map[string]string{"LLM_PROVIDER": "ollama", "OLLAMA_HOST": "ftp://gpu"}, nil); err == nil || !strings.Contains(err.Error(), "environment OLLAMA_HOST: llm.base_url") {
		t.Errorf("no address: %v", err)
	}
}

func FuzzOllamaHost(f *testing.F) {
	for _, seed := range []string{"gpu:1", "[::1", "https://u:p@gpu/x", "::", "a/b:c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) { // an address or a problem, with the same result when it is written down
		env := func(name string) string {
			return map[string]string{"LLM_PROVIDER": "ollama", "OLLAMA_HOST": host}[name]
		}
		c, err := config.Load("", false, env, nil)
		if err != nil {
			return
		}
		url := c.LLM.Main.BaseURL.Reveal()
		again, err := config.Load("", false, func(name string) string {
			return map[string]string{"LLM_PROVIDER": "ollama", "LLM_BASE_URL": url}[name]
		}, nil)
		if err != nil || again.LLM.Main.BaseURL.Reveal() != url {
			t.Errorf("%q became %q, which is %v, %v", host, url, again.LLM.Main.BaseURL, err)
		}
	})
}

func TestProvider_ProblemsAndNotices(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name            string
		env             map[string]string
		problem, notice string // empty: none
	}{
		{"anthropic without a key", map[string]string{"LLM_PROVIDER": "anthropic", "LLM_MODEL": "m", "OPENAI_API_KEY": "k"}, "set LLM_API_KEY or ANTHROPIC_API_KEY", ""},
		{"ollama needs none", map[string]string{"LLM_PROVIDER": "ollama", "LLM_MODEL": "m"}, "", ""},
		{"a gateway needs none", map[string]string{"LLM_PROVIDER": "anthropic", "LLM_MODEL": "m", "LLM_BASE_URL": "http://gateway"}, "", ""},
		{"a role's model of another provider", map[string]string{"LLM_PROVIDER": "ollama", "LLM_MODEL": "m", "LLM_WRITER_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k"},
			"llm.writer.model: must be set: llm.model is ollama's", ""},
		{"a role without a key", map[string]string{"LLM_PROVIDER": "ollama", "LLM_MODEL": "m", "LLM_WRITER_PROVIDER": "anthropic", "LLM_WRITER_MODEL": "w"}, "set LLM_WRITER_API_KEY or ANTHROPIC_API_KEY", ""},
		{"unknown for a role", map[string]string{"LLM_JUDGE_PROVIDER": "x"}, `llm.judge.provider "x": must be one of openai, anthropic, ollama`, ""},
		{"key without a model", map[string]string{"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k"}, "", "ANTHROPIC_API_KEY is set but LLM_MODEL is not"},
		{"provider without a model", map[string]string{"LLM_PROVIDER": "ollama"}, "", "LLM_PROVIDER is set but LLM_MODEL is not"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, err := tryLoad(t, "", tc.env, nil)
			if (tc.problem == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.problem) {
				t.Errorf("problem %v, want %q", err, tc.problem)
			}
			if notices := strings.Join(c.Notices(), "\n"); err == nil && ((tc.notice == "") != (notices == "") || !strings.Contains(notices, tc.notice)) {
				t.Errorf("notices %q, want %q", notices, tc.notice)
			}
		})
	}
}

// An embedding model is not called with another provider's key or at a server without embeddings.
func TestProvider_Embeddings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		env       map[string]string
		base, key string
	}{
		{"beside anthropic", map[string]string{"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}, "", "o"},
		{"beside a gateway to anthropic", map[string]string{"LLM_PROVIDER": "anthropic", "LLM_API_KEY": "a", "LLM_BASE_URL": "http://gateway", "OPENAI_API_KEY": "o"}, "", "o"},
		{"on the same ollama", map[string]string{"LLM_PROVIDER": "ollama", "OPENAI_API_KEY": "o"}, "http://127.0.0.1:11434/v1", ""},
		{"on an ollama of its own", map[string]string{"LLM_PROVIDER": "ollama", "EMBEDDING_BASE_URL": "http://gpu:11434/v1"}, "http://gpu:11434/v1", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.env["LLM_MODEL"], tc.env["EMBEDDING_MODEL"] = "m", "e"
			if e := load(t, "", tc.env, nil).Embedding; e.BaseURL.Reveal() != tc.base || e.APIKey.Reveal() != tc.key {
				t.Errorf("server %q, key %q", e.BaseURL.Reveal(), e.APIKey.Reveal())
			}
		})
	}
}
