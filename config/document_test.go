package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/config"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is out of date (run with -update):\n%s", path, diff)
	}
}

func TestMarkdownList_Golden(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join("testdata", "settings.golden.md"), config.MarkdownList())
}

// settingLine matches a commented-out setting. Other comments have a space after the #.
var settingLine = regexp.MustCompile(`(?m)^( *)#([a-z_]+:.*)$`)

func TestExample_EveryLineCanBeUncommented(t *testing.T) {
	t.Parallel()
	example := config.Example()
	lines := settingLine.FindAllStringSubmatchIndex(example, -1)
	if len(lines) != len(config.Settings()) {
		t.Fatalf("example has %d settings, table has %d", len(lines), len(config.Settings()))
	}
	want := load(t, "", nil, nil)
	for i, at := range lines {
		one := example[:at[0]] + example[at[2]:at[3]] + example[at[4]:at[5]] + example[at[1]:]
		path := config.Settings()[i].Path
		if _, key, _ := strings.Cut("."+path, "."); !strings.HasSuffix(key, strings.SplitN(example[at[4]:at[5]], ":", 2)[0]) {
			t.Errorf("setting %d of the example is %s, that of the table %s", i, example[at[4]:at[5]], path)
		}
		got := load(t, one, nil, nil)
		if diff := cmp.Diff(want, got, ignoreOrigins); diff != "" && path != "researching.max_iterations" { // its default is not the preset's
			t.Errorf("setting %s to its default changes the configuration:\n%s", path, diff)
		}
	}
	_ = load(t, settingLine.ReplaceAllString(example, "$1$2"), nil, nil)
	_, schedules, _ := strings.Cut(example, "\nschedules:\n")
	if c := load(t, "schedules:\n"+strings.ReplaceAll("\n"+schedules, "\n  # ", "\n  "), nil, nil); len(c.Schedules) != 1 || c.Schedules[0].Name != "nightly" {
		t.Errorf("the schedule of the example is %+v", c.Schedules)
	}
	for _, key := range config.ScheduleKeys() {
		if !strings.Contains(schedules, "  #   "+key+": ") {
			t.Errorf("the schedule of the example lacks %s", key)
		}
	}
}

func TestSettings_TableIsWhole(t *testing.T) {
	t.Parallel()
	settings := 0
	for _, s := range config.Settings() {
		if s.Inherit == "" || !strings.HasPrefix(s.Path, "llm.") { // not the model of one role
			settings++
		}
	}
	if settings > 90 {
		t.Errorf("%d settings: what nobody sets is a constant beside its code", settings)
	}
	paths, envs := map[string]bool{}, map[string]bool{}
	for _, s := range config.Settings() {
		if paths[s.Path] || envs[s.Env] {
			t.Errorf("%s or %s stands twice in the table", s.Path, s.Env)
		}
		paths[s.Path], envs[s.Env] = true, true
		if s.Doc == "" || s.Type == "" || s.Allowed == "" {
			t.Errorf("%s lacks doc, type or allowed values: %+v", s.Path, s)
		}
		if options, ok := strings.CutPrefix(s.Allowed, "one of "); ok && s.Inherit == "" {
			for option := range strings.SplitSeq(options, ", ") {
				if !strings.Contains(s.Doc, option) {
					t.Errorf("the doc of %s does not name %s: %s", s.Path, option, s.Doc)
				}
			}
		}
		if s.Default != "" && s.Inherit != "" {
			t.Errorf("%s has a default and inherits", s.Path)
		}
	}
	for path, env := range map[string]string{
		"redis_url":                  "REDIS_URL",
		"storage_url":                "STORAGE_URL",
		"llm.base_url":               "LLM_BASE_URL",
		"llm.planner.model":          "LLM_PLANNER_MODEL",
		"llm.judge.api_key":          "LLM_JUDGE_API_KEY",
		"tavily_api_key":             "TAVILY_API_KEY",
		"researching.max_iterations": "NIGHTDESK_RESEARCHING_MAX_ITERATIONS",
		"planning.rephrase.enabled":  "NIGHTDESK_PLANNING_REPHRASE_ENABLED",
		"log_level":                  "NIGHTDESK_LOG_LEVEL",
	} {
		if !paths[path] || !envs[env] {
			t.Errorf("no setting %s with variable %s", path, env)
		}
	}
}

func TestEffective_SourcesAndRedaction(t *testing.T) {
	t.Parallel()
	c := load(t, "worker:\n  concurrency: 7\nllm:\n  api_key: sk-canary\n",
		map[string]string{"LLM_MODEL": "m", "REDIS_URL": "redis://u:canary@host:6379/1", "NIGHTDESK_LANGUAGE": "zh"},
		map[string]string{"preset": "deep"})
	got := map[string]string{}
	for _, e := range c.Effective() {
		got[e.Path] = e.Value + " < " + e.Source
		if strings.Contains(e.Value+e.Source, "canary") {
			t.Errorf("%s shows its secret: %+v", e.Path, e)
		}
	}
	for path, want := range map[string]string{
		"worker.concurrency":         "7 < nightdesk.yaml:2",
		"queue.max_length":           "5 < default",
		"preset":                     "deep < flag",
		"language":                   "zh < environment NIGHTDESK_LANGUAGE",
		"llm.api_key":                "[redacted] < nightdesk.yaml:4",
		"redis_url":                  "redis://[redacted]@host:6379/1 < environment REDIS_URL",
		"researching.max_iterations": "7 < preset deep",
		"llm.planner.model":          "m < llm.model",
		"llm.max_tokens":             "12000 < default",
	} {
		if shown := strings.ReplaceAll(got[path], directory(got[path]), ""); shown != want {
			t.Errorf("%s = %q, want %q", path, shown, want)
		}
	}
}

// directory returns the temporary directory in a source such as "7 < /tmp/x/nightdesk.yaml:2".
func directory(shown string) string {
	_, source, _ := strings.Cut(shown, " < ")
	if dir, _ := filepath.Split(source); filepath.IsAbs(dir) {
		return dir
	}
	return "\x00"
}
