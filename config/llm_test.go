package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/config"
)

func TestLLM_RolesTakeWhatTheyDoNotSet(t *testing.T) {
	t.Parallel()
	c := load(t, "llm:\n  judge:\n    api_key: \"\"\n    base_url: http://judge/v1\n", map[string]string{
		"LLM_MODEL": "main", "LLM_API_KEY": "key", "LLM_BASE_URL": "http://main/v1", "LLM_TEMPERATURE": "0.2", "LLM_CONTEXT_TOKENS": "64000", "LLM_REASONING": "true",
		"LLM_PLANNER_MODEL": "big", "LLM_PLANNER_BASE_URL": "http://big/v1", "LLM_PLANNER_API_KEY": "key2",
	}, nil)
	main := config.Model{Provider: "openai", Name: "main", BaseURL: config.NewURL("http://main/v1"), APIKey: config.NewSecret("key"), ContextTokens: 64000, Temperature: 0.2,
		MaxTokens: 12000, Reasoning: true}
	planner := main
	planner.Name, planner.BaseURL, planner.APIKey = "big", config.NewURL("http://big/v1"), config.NewSecret("key2")
	judge := main
	judge.BaseURL, judge.APIKey = config.NewURL("http://judge/v1"), config.Secret{}
	want := config.LLM{Timeout: c.LLM.Timeout, Main: main, Planner: planner, Researcher: main, Note: main, Writer: main, Judge: judge}
	if diff := cmp.Diff(want, c.LLM); diff != "" {
		t.Error(diff)
	}
	if len(c.Notices()) != 0 || !c.LLM.Enabled() {
		t.Errorf("enabled %v, notices %q", c.LLM.Enabled(), c.Notices())
	}
}

func TestLLM_MaxTokens(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name                            string
		env                             map[string]string
		main, planner, researcher, note int
	}{
		{"defaults", nil, 12000, 4000, 2000, 4000},
		{"larger answers", map[string]string{"LLM_MAX_TOKENS": "16000"}, 16000, 4000, 2000, 4000},
		{"main limit holds for all", map[string]string{"LLM_MAX_TOKENS": "1500"}, 1500, 1500, 1500, 1500},
		{"small window", map[string]string{"LLM_CONTEXT_TOKENS": "4096"}, 2048, 2048, 2000, 2048},
		{"thinking counts", map[string]string{"LLM_REASONING": "true"}, 12000, 12000, 12000, 12000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := load(t, "", tc.env, nil).LLM
			got := [4]int{l.Main.MaxTokens, l.Planner.MaxTokens, l.Researcher.MaxTokens, l.Note.MaxTokens}
			if want := [4]int{tc.main, tc.planner, tc.researcher, tc.note}; got != want || l.Writer.MaxTokens != tc.main {
				t.Errorf("main, planner, researcher, note = %v, want %v; writer %d", got, want, l.Writer.MaxTokens)
			}
		})
	}
}

func TestLLM_CommonVariables(t *testing.T) {
	t.Parallel()
	common := map[string]string{"OPENAI_API_KEY": "common", "OPENAI_BASE_URL": "http://common/v1", "LLM_MODEL": "m"}
	for _, tc := range []struct {
		name      string
		file      string
		extra     map[string]string
		flags     map[string]string
		key, base string
	}{
		{"honoured", "", nil, nil, "common", "http://common/v1"},
		{"own variables first", "", map[string]string{"LLM_API_KEY": "own", "LLM_BASE_URL": "http://own/v1"}, nil, "own", "http://own/v1"},
		{"file first", "llm: {api_key: filed, base_url: \"http://filed/v1\"}\n", nil, nil, "filed", "http://filed/v1"},
		{"flag first", "", nil, map[string]string{"llm.api_key": "flag", "llm.base_url": "http://flag/v1"}, "flag", "http://flag/v1"},
		{"each for itself", "", map[string]string{"LLM_API_KEY": "own"}, nil, "own", "http://common/v1"},
		{"switched off in the file", "llm: {api_key: \"\"}\n", nil, nil, "", "http://common/v1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			for _, m := range []map[string]string{common, tc.extra} {
				for k, v := range m {
					env[k] = v
				}
			}
			got := load(t, tc.file, env, tc.flags).LLM.Writer
			if got.APIKey.Reveal() != tc.key || got.BaseURL.Reveal() != tc.base {
				t.Errorf("key %q, server %q; want %q, %q", got.APIKey.Reveal(), got.BaseURL.Reveal(), tc.key, tc.base)
			}
		})
	}
}

// A key is sent only to the server that it was set for.
func TestLLM_KeyOfServer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		env        map[string]string
		main, note string
	}{
		{"OpenAI's key and another server", map[string]string{"OPENAI_API_KEY": "k", "LLM_BASE_URL": "http://gateway/v1"}, "", ""},
		{"main key and a role's server", map[string]string{"LLM_API_KEY": "k", "LLM_NOTE_BASE_URL": "http://note/v1"}, "k", ""},
		{"a role at the main server", map[string]string{"LLM_API_KEY": "k", "LLM_NOTE_BASE_URL": "https://api.openai.com/v1"}, "k", "k"},
		{"Anthropic's key and a gateway", map[string]string{"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k", "LLM_BASE_URL": "http://g"}, "", ""},
	} {
		tc.env["LLM_MODEL"] = "m"
		l := load(t, "", tc.env, nil).LLM
		if l.Main.APIKey.Reveal() != tc.main || l.Note.APIKey.Reveal() != tc.note {
			t.Errorf("%s: %q and %q", tc.name, l.Main.APIKey.Reveal(), l.Note.APIKey.Reveal())
		}
	}
}

func TestLLM_Notices(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		env  map[string]string
		want []string
	}{
		{"no model, nothing asked for", nil, nil},
		{"key without model", map[string]string{"OPENAI_API_KEY": "k"}, []string{"OPENAI_API_KEY is set but LLM_MODEL is not: no model is used; set LLM_MODEL=..."}},
		{"own key and server without model", map[string]string{"LLM_API_KEY": "k", "LLM_BASE_URL": "http://h"}, []string{"LLM_API_KEY is set but LLM_MODEL is not", "LLM_BASE_URL is set but LLM_MODEL is not"}},
		{"OpenAI's key to its own server", map[string]string{"OPENAI_API_KEY": "k", "LLM_BASE_URL": "https://api.openai.com/v1", "LLM_MODEL": "m"}, nil},
		{"complete", map[string]string{"OPENAI_API_KEY": "k", "LLM_MODEL": "m"}, nil},
		{"server without key", map[string]string{"LLM_BASE_URL": "http://localhost:11434/v1", "LLM_MODEL": "m"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := load(t, "", tc.env, nil)
			got := c.Notices()
			if len(got) != len(tc.want) {
				t.Fatalf("notices %q, want %q", got, tc.want)
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("notice %q, want %q", got[i], want)
				}
			}
			if c.LLM.Enabled() != (tc.env["LLM_MODEL"] != "") {
				t.Errorf("Enabled is %v", c.LLM.Enabled())
			}
		})
	}
}

func TestLLM_Problems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		file string
		env  map[string]string
		want []string
	}{
		{"model without key or server", "", map[string]string{"LLM_MODEL": "m"}, []string{`environment LLM_MODEL: llm.model "m": it needs a key or a server`}},
		{"key that is empty", "llm: {api_key: \"\"}\n", map[string]string{"LLM_MODEL": "m", "OPENAI_API_KEY": "k"}, []string{"it needs a key or a server"}},
		{"bad server is one problem", "", map[string]string{"LLM_MODEL": "m", "LLM_BASE_URL": "localhost:11434"}, []string{`llm.base_url "localhost:11434": must be http:// or https://`}},
		{"unknown provider", "", map[string]string{"LLM_PROVIDER": "claude"}, []string{`llm.provider "claude": must be one of openai, anthropic, ollama`}},
		{"role without main", "", map[string]string{"LLM_WRITER_MODEL": "w", "LLM_API_KEY": "k"}, []string{`llm.writer.model "w": the other roles have no model: set LLM_MODEL too`}},
		{"empty role", "llm: {model: m, api_key: k, note: {model: \"\"}}\n", nil, []string{"llm.note.model: must not be empty: remove it to use llm.model"}},
		{"answer as large as the window", "", map[string]string{"LLM_CONTEXT_TOKENS": "8192", "LLM_MAX_TOKENS": "8192"}, []string{`llm.max_tokens "8192": must leave room for the question in llm.context_tokens (8192)`}},
		{"bad role setting", "", map[string]string{"LLM_JUDGE_PROVIDER": "x", "LLM_NOTE_BASE_URL": "y"}, []string{"llm.note.base_url", "llm.judge.provider"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := tryLoad(t, tc.file, tc.env, nil)
			problems, _ := err.(config.Problems)
			if len(problems) != len(tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			for i, want := range tc.want {
				if !strings.Contains(problems[i].String(), want) {
					t.Errorf("problem %q, want %q", problems[i], want)
				}
			}
		})
	}
}
