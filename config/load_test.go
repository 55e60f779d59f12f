package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"nightdesk/config"
)

var ignoreOrigins = cmpopts.IgnoreUnexported(config.Config{})

// tryLoad writes file (none when empty) and loads it.
func tryLoad(t testing.TB, file string, env, flags map[string]string) (config.Config, error) {
	t.Helper()
	path := ""
	if file != "" {
		path = filepath.Join(t.TempDir(), "nightdesk.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(path, true, func(name string) string { return env[name] }, flags)
}

func load(t testing.TB, file string, env, flags map[string]string) config.Config {
	t.Helper()
	c, err := tryLoad(t, file, env, flags)
	if err != nil {
		t.Fatalf("load: %v\nfile:\n%s", err, file)
	}
	return c
}

func TestLoad_Defaults(t *testing.T) {
	t.Parallel()
	want := config.Config{
		LogLevel: "info", DataDir: "./nightdesk-data", Preset: "medium", Language: "en",
		Serve:  config.Serve{Listen: "127.0.0.1:8080"},
		Watch:  config.Watch{ReturnIntermediateResults: true},
		Worker: config.Worker{Concurrency: 20},
		Researching: config.Researching{
			ExecutionMode: "parallel", MaxParallelTopics: 5, MaxIterations: 4, MaxLoops: 1, NewTopicMinScore: 0.85, Strategy: "balanced", IterationMode: "flexible",
			EnableRAGHybrid: true, EnableRAGNaive: true, EnableQueryItem: true,
			EnableWebSearch: true, EnableRunCode: true,
		},
		Queue:     config.Queue{MaxLength: 5},
		Limits:    config.Limits{RunDuration: 45 * time.Minute},
		Planning:  config.Planning{Human: config.Human{InTheLoop: true, InputMethod: "terminal"}, Rephrase: config.Rephrase{MaxIterations: 3}, Decompose: config.Decompose{Mode: "manual", InitialSubtopics: 5, AutoMaxSubtopics: 8}},
		Answering: config.Answering{MaxLLMTurns: 10, MaxToolIterations: 5},
		Reporting: config.Reporting{CitationStyle: "anchors", OnUnsupported: "mark", Formats: "html,docx", Audio: "none"},
		LLM: config.LLM{
			Timeout: 2 * time.Minute,
			Main:    model(12000), Planner: model(4000), Researcher: model(2000), Note: model(4000), Writer: model(12000), Judge: model(4000),
		},
	}
	if diff := cmp.Diff(want, load(t, "", nil, nil), ignoreOrigins); diff != "" {
		t.Error(diff)
	}
}

func model(maxTokens int) config.Model {
	return config.Model{Provider: "openai", ContextTokens: 32768, Temperature: 0.5, MaxTokens: maxTokens}
}

func TestLoad_Precedence(t *testing.T) {
	t.Parallel()
	file := "researching:\n  max_iterations: 2\n"
	env := map[string]string{"NIGHTDESK_RESEARCHING_MAX_ITERATIONS": "3"}
	flags := map[string]string{"researching.max_iterations": "9"}
	for _, tc := range []struct {
		name       string
		file       string
		env, flags map[string]string
		want       int
	}{
		{"preset before default", "", nil, nil, 4},
		{"file before preset", file, nil, nil, 2},
		{"environment before file", file, env, nil, 3},
		{"flag before environment", file, env, flags, 9},
		{"empty variable is unset", file, map[string]string{"NIGHTDESK_RESEARCHING_MAX_ITERATIONS": ""}, nil, 2},
		{"key without value is unset", "researching:\n  max_iterations:\n", nil, nil, 4},
		{"empty group", "researching:\n", nil, nil, 4},
		{"null", "researching: {max_iterations: null}\n", nil, nil, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := load(t, tc.file, tc.env, tc.flags).Researching.MaxIterations; got != tc.want {
				t.Errorf("max_iterations = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestLoad_Notations(t *testing.T) {
	t.Parallel()
	c := load(t, strings.Join([]string{
		"\uFEFF# comment", "---", `"language": no   # Norwegian, not false`, "kb_name: 0123", "data_dir: $HOME/x", "log_level: 'debug'",
		"worker: {concurrency: \"8\"}", "limits.run_duration: 1m30s", "llm: {timeout: 45}",
		"researching:", "  enable_rag_naive: off", "  new_topic_min_score: 1", "",
	}, "\n"), map[string]string{"NIGHTDESK_RESEARCHING_ENABLE_QUERY_ITEM": "0", "LLM_API_KEY": "sk-1\n"}, nil)
	type got struct {
		Language, KB, Dir, Level, Key string
		Concurrency                   int
		Timeout, Run                  time.Duration
		Naive, Item                   bool
		Score                         float64
	}
	if diff := cmp.Diff(got{"no", "0123", "$HOME/x", "debug", "sk-1", 8, 45 * time.Second, 90 * time.Second, false, false, 1},
		got{c.Language, c.KBName, c.DataDir, c.LogLevel, c.LLM.Main.APIKey.Reveal(), c.Worker.Concurrency, c.LLM.Timeout,
			c.Limits.RunDuration, c.Researching.EnableRAGNaive, c.Researching.EnableQueryItem, c.Researching.NewTopicMinScore}); diff != "" {
		t.Error(diff)
	}
}

func TestLoad_MissingFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.yaml")
	none := func(string) string { return "" }
	if _, err := config.Load(path, false, none, nil); err != nil {
		t.Errorf("a missing default file is an error: %v", err)
	}
	if _, err := config.Load(path, true, none, nil); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a missing named file: error %v, want one that names it", err)
	}
	if _, err := config.Load(filepath.Dir(path), false, none, nil); err == nil {
		t.Error("a directory was read as a settings file")
	}
}

func TestLoad_Problems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		file       string
		env, flags map[string]string
		want       []string // Problem.String without directory, each a part of one problem, in order
	}{
		{"unknown keys", "workr:\n  concurrency: 1\nworker:\n  concurency: 1\nfoo: bar\n", nil, nil, []string{
			`nightdesk.yaml:1: workr: unknown setting`, `nightdesk.yaml:4: worker.concurency: unknown setting; did you mean worker.concurrency?`, `nightdesk.yaml:5: foo: unknown setting; ` + "`nightdesk config`",
		}},
		{"all layers", "queue:\n  max_length: many\n", map[string]string{"NIGHTDESK_PRESET": "standard"}, map[string]string{"worker.concurrency": "0", "max_iterations": "1"}, []string{
			`nightdesk.yaml:2: queue.max_length "many": must be a whole number from 1 to 200`,
			`environment NIGHTDESK_PRESET: preset "standard": must be one of shallow, route, quick, medium, deep, auto`,
			`flag: max_iterations: unknown setting; did you mean researching.max_iterations or planning.rephrase.max_iterations?`,
			`flag: worker.concurrency "0": must be a whole number from 1 to 1000`,
		}},
		{"hidden by a stronger layer", "log_level: loud\n", map[string]string{"NIGHTDESK_LOG_LEVEL": "warn"}, nil, []string{`nightdesk.yaml:1: log_level "loud": must be one of trace, debug, info, warn, error`}},
		{"group for value", "log_level: {a: 1}\nlanguage: [en]\nworker: 5\n", nil, nil, []string{"nightdesk.yaml:1: log_level: must be a single value", "nightdesk.yaml:2: language: must be a single value", "nightdesk.yaml:3: worker: must contain settings"}},
		{"set twice", "language: en\nlanguage: zh\nworker:\n  concurrency: 1\nworker.concurrency: 2\n", nil, nil, []string{"nightdesk.yaml:2: language: is set twice; the first is in line 1", "nightdesk.yaml:5: worker.concurrency: is set twice; the first is in line 4"}},
		{"alias", "data_dir: &a x\nkb_name: *a\nworker: &w {concurrency: 1}\nqueue: !!map {max_length: 1}\n", nil, nil, []string{"yaml:1: data_dir: must be a single value", "yaml:2: kb_name: must be a single", "yaml:3: worker: must contain settings", "yaml:4: queue: must contain settings"}},
		{"merge key", "worker:\n  <<: {concurrency: 1}\n", nil, nil,
			[]string{"nightdesk.yaml:2: worker: has a key that is not a plain string"}},
		{"two documents", "language: en\n---\nlanguage: zh\n", nil, nil,
			[]string{"nightdesk.yaml:3: only one YAML document"}},
		{"list", "- a\n", nil, nil, []string{"nightdesk.yaml:1: must contain settings"}},
		{"syntax, environment checked too", "language: en\nworker: [1\n", map[string]string{"NIGHTDESK_LANGUAGE": "english"}, nil, []string{"nightdesk.yaml:2: not valid YAML", `environment NIGHTDESK_LANGUAGE: language "english": must be a language tag`}},
		{"tab", "worker:\n\tconcurrency: 1\n", nil, nil, []string{"nightdesk.yaml:2: not valid YAML"}},
		{"not UTF-8", "kb_name: a\nlanguage: \xff\n", nil, nil, []string{"nightdesk.yaml:2: the file is not UTF-8"}},
		{"brackets", strings.Repeat("[", 7000) + "\n", nil, nil, []string{"nightdesk.yaml:1: nested more than 32 deep"}},
		{"long line", "a: " + strings.Repeat("- ", 5000), nil, nil, []string{"nightdesk.yaml:1: the line has more than"}},
		{"too big", strings.Repeat("# comment\n", 110_000), nil, nil, []string{"read settings file: "}},
		{"numbers", "", nil, map[string]string{"researching.max_iterations": "2.5", "researching.new_topic_min_score": "NaN", "llm.temperature": "2.1", "limits.run_duration": "20 seconds", "llm.timeout": "99999999999999"}, []string{
			`run_duration "20 seconds": must be a duration`, `llm.temperature "2.1": must be a number from 0 to 2`, `llm.timeout "99999999999999": must be a duration from 1s to 3600s, such as 90s or 2m`, `max_iterations "2.5": must be a whole number`, `new_topic_min_score "NaN": must be a number from 0 to 1`,
		}},
		{"enumerations", "", nil, map[string]string{"researching.execution_mode": "both", "researching.iteration_mode": "x", "planning.decompose.mode": "x", "reporting.citation_style": "x", "planning.rephrase.enabled": "maybe"}, []string{"one of manual, auto", "true or false", "one of anchors, numbered", "one of parallel, series", "one of fixed, flexible"}},
		{"storage", "", map[string]string{"STORAGE_URL": "s3://id@bucket/prefix"}, nil, []string{"s3://bucket/prefix"}},
		{"storage relative", "", map[string]string{"STORAGE_URL": "file://data"}, nil, []string{"must be file:///absolute/dir"}},
		{"redis without scheme", "", map[string]string{"REDIS_URL": "localhost:6379"}, nil, []string{`environment REDIS_URL: redis_url "localhost:6379": must be redis://`}},
		{"control character", "data_dir: \"a\\nb\"\n", nil, nil, []string{"must not contain control characters"}},
		{"empty", "data_dir: \"\"\nlog_level: \"\"\n", nil, nil, []string{"data_dir: must not be empty", "log_level: must be one of"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, err := tryLoad(t, tc.file, tc.env, tc.flags)
			var problems config.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("error %v (%T), want Problems; configuration %v", err, err, c)
			}
			if len(problems) != len(tc.want) {
				t.Fatalf("got %d problems, want %d: %v", len(problems), len(tc.want), err)
			}
			for i, want := range tc.want {
				if !strings.Contains(problems[i].String(), want) {
					t.Errorf("problem %d is %q, want %q", i, problems[i], want)
				}
				if !strings.Contains(err.Error(), problems[i].String()) {
					t.Errorf("the error does not list %q: %v", problems[i], err)
				}
			}
		})
	}
}

func TestLoad_ErrorsNeverShowSecrets(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	for i, tc := range []struct {
		file string
		env  map[string]string
	}{
		{"llm:\n  api_key: " + canary + "\n bad\n", nil},
		{"llm:\n  api_key: \"" + canary + "\n", nil},
		{"llm:\n  api_key: |" + canary + "\n", nil},
		{"llm:\n  api_key: !!" + canary + " x\n", nil},
		{"llm:\n  api_key: *" + canary + "\n", nil},
		{"llm:\n  api_key: [" + canary + "]\n", nil},
		{"llm:\n  api_key: {" + canary + ": 1}\n", nil},
		{"llm:\n  api_key: \"" + canary + "\\n\"\n  api_key: " + canary + "\n", nil},
		{"llm:\n  api_key: \"" + canary + "\\n" + canary + "\"\n", nil},
		{"llm:\n  apikey: " + canary + "\n", nil},
		{"foo: " + canary + "\n", nil},
		{"redis_url: redis:/u:" + canary + "@host\n", nil},
		{"redis_url: [\"redis://u:" + canary + "@host\"]\n", nil},
		{"", map[string]string{"REDIS_URL": "u:" + canary + "@host:6379"}},
		{"", map[string]string{"STORAGE_URL": "s3://bucket/prefix?k=" + canary}},
		{"", map[string]string{"STORAGE_URL": "file:///dir#k=" + canary}},
		{"", map[string]string{"REDIS_URL": "http://u:" + canary + "@host:x"}},
		{"", map[string]string{"REDIS_URL": "http://u:" + canary + "/#?@host"}},
		{"", map[string]string{"REDIS_URL": "http://h?password=" + canary}},
		{"", map[string]string{"STORAGE_URL": "s3://id:" + canary + "@bucket"}},
		{"", map[string]string{"LLM_BASE_URL": "https://u:" + canary + "@h:port/%zz"}},
		{"", map[string]string{"LLM_BASE_URL": "ftp://h/?api-key=" + canary}},
		{"", map[string]string{"LLM_API_KEY": "x\x01" + canary}},
	} {
		_, err := tryLoad(t, tc.file, tc.env, nil)
		if err == nil {
			t.Errorf("case %d: no error", i)
			continue
		}
		for _, shown := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
			if strings.Contains(shown, canary) {
				t.Errorf("case %d shows the secret: %s", i, shown)
			}
		}
	}
}

func TestPresets_PassTheChecks(t *testing.T) {
	t.Parallel()
	for _, p := range config.Presets() {
		c := load(t, p.File, nil, nil) // unknown paths and bad values would be problems
		if diff := cmp.Diff(c, load(t, "", nil, p.Values), ignoreOrigins); diff != "" || len(p.Values) == 0 {
			t.Errorf("preset %s: its file and its values differ:\n%s", p.Name, diff)
		}
		if got := load(t, "", nil, map[string]string{"preset": p.Name}); got.Planning != c.Planning || got.Researching != c.Researching || got.Limits != c.Limits {
			t.Errorf("preset %s: %+v %+v, its values give %+v %+v", p.Name, got.Planning, got.Researching, c.Planning, c.Researching)
		}
	}
}
