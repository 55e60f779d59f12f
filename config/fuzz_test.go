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

	"nightdesk/config"
	"nightdesk/topicqueue/scaletest"
)

// FuzzLoad: a file either has problems of one line each, or its settings are the same after writing and loading them.
func FuzzLoad(f *testing.F) {
	f.Add("# seeds are short: long ones are minimised for minutes\nqueue:\n  #max_length: 1\nlog_level: debug\n")
	f.Add("llm: {model: m, api_key: \"k\\u00e9 \", base_url: 'https://u:p@h/v1?key=x'}\nlimits.run_duration: 1m0.5s\n")
	f.Add("data_dir: |\n  x\nkb_name: >-\n  a\n  b\n? language\n: zh\n")
	f.Add("a: &a [*a]\n<<: *a\n--- !!x\n...\n%YAML 1.2\n")
	f.Add("llm: {provider: ollama, model: m, note: {provider: anthropic, model: n, api_key: k}}\nembedding: {model: e}\n")
	f.Add("researching: {max_iterations: 0x10, new_topic_min_score: .5}\nlimits: {run_duration: 60}\nlanguage: NO\n")
	f.Add("schedules:\n  a: {cron: 0 1 * * 7, topics: x}\n  'b': {cron: '@every 6h', timezone: UTC, topics: \"\\u00e9\", pause_after: 2}\n")
	path := filepath.Join(f.TempDir(), "nightdesk.yaml") // one per process: making one each time is most of the work
	loadFile := func(t *testing.T, file string) (config.Config, error) {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		return config.Load(path, true, func(string) string { return "" }, nil)
	}
	f.Fuzz(func(t *testing.T, file string) {
		c, err := loadFile(t, file)
		if err != nil {
			var problems config.Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("error %v is no Problems", err)
			}
			for _, p := range problems {
				if p.Reason == "" || p.Source == "" && p.Key != "" || strings.ContainsAny(p.String(), "\n\r\x1b\x00") {
					t.Errorf("problem %q", p)
				}
			}
			return
		}
		written := config.File(c)
		again, err := loadFile(t, written)
		if err != nil {
			t.Fatalf("%v\nwritten:\n%s", err, written)
		}
		if diff := cmp.Diff(c, again, ignoreOrigins); diff != "" {
			t.Errorf("loaded again:\n%s\nwritten:\n%s", diff, written)
		}
		if _, err := config.RunOptionsOf(c, "", "", "", ""); err != nil {
			t.Errorf("a valid configuration has no options: %v", err)
		}
	})
}

// Reading any file takes seconds at most.
func TestLoad_HostileFileIsQuick(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	const size = 256 << 10 // without the limits, the worst of these takes minutes
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var keys, nested, flow strings.Builder
	for i := 0; flow.Len() < size-20; i++ {
		fmt.Fprintf(&flow, "k%d: 1,", i)
		if i%500 == 0 {
			flow.WriteByte('\n')
		}
	}
	for i := 0; keys.Len() < size-20; i++ {
		fmt.Fprintf(&keys, "key%d: 1\n", i)
	}
	for i := 0; nested.Len() < size-3000; i++ {
		nested.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, file := range map[string]string{
		"keys": keys.String(), "keys in braces": "{" + flow.String() + "}", "keys in a group": "worker: {" + flow.String() + "\n}", "list": "language: [" + strings.Repeat(strings.Repeat("x,", 1000)+"\n", size/2001-1) + "\n]",
		"nested": nested.String(), "brackets": fill("["), "bracket lines": fill("[\n"), "braces": fill("{a: "),
		"closed": fill(strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n"), "items": fill("- a\n"), "item lines": fill(strings.Repeat("- ", 32) + "\n"), "long item lines": fill(strings.Repeat("- ", 4000) + "\n"), "key lines": fill(strings.Repeat("? ", 4000) + "\n"), "documents": fill("---\n"),
		"anchors": fill("&a "), "aliases": "data_dir: &a x\n" + fill("k: *a\n")[:size-100], "question marks": fill("? \n"), "quotes": fill("a: \"\n"), "block": "a: |\n" + fill(" x\n")[:size-10],
		"bomb": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\nlanguage: *d\n",
	} {
		variants := []string{file}
		if lines := strings.SplitAfter(file, "\n"); len(lines) > 10_000 {
			variants = append(variants, strings.Join(lines[:9_999], "")) // what passes the limit of lines
		}
		for _, file := range variants {
			start := time.Now()
			_, err := tryLoad(t, file, nil, nil)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%s took %v", name, took)
			} else {
				t.Logf("%s, %d lines: %v", name, strings.Count(file, "\n"), took)
			}
			if err == nil && name != "documents" {
				t.Errorf("%s: no error", name)
			} else if err != nil && len(err.Error()) > 100_000 {
				t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
			}
		}
	}
}
