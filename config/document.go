package config

import (
	_ "embed"
	"strings"
	"sync"
)

// example is a settings file with every setting commented out: "# doc" lines above "#key: default". It is where users
// read what a setting does, and where the program takes defaults and docs from.
//
//go:embed nightdesk.example.yaml
var example string

// Example returns a nightdesk.yaml with every setting commented out, with its default and its doc. Removing one # sets
// one setting.
func Example() string { return example }

// entryOfExample is what the example says about a setting.
type entryOfExample struct{ fallback, doc string }

// documented returns the default and the doc of each setting by path, as the example has them.
var documented = sync.OnceValue(func() map[string]entryOfExample {
	settings := map[string]entryOfExample{}
	var groups []string
	doc := ""
	schedule := strings.NewReplacer("\n  # nightly:", "", "\n  #   # ", "\n  # ", "\n  #   ", "\n  #") // an example in it
	for line := range strings.Lines(schedule.Replace(example)) {
		text := strings.TrimSpace(line)
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		key, value, isKey := strings.Cut(strings.TrimPrefix(text, "#"), ":")
		switch {
		case strings.HasPrefix(text, "# "):
			doc += text[1:]
		case isKey && text[0] == '#':
			path := strings.Join(append(groups[:depth:depth], key), ".")
			settings[path] = entryOfExample{strings.Trim(value, ` "`), strings.TrimSpace(doc)}
			doc = ""
		case isKey:
			groups, doc = append(groups[:depth:depth], key), ""
		default:
			doc = ""
		}
	}
	return settings
})

// Effective is a setting with its current value.
type Effective struct {
	Setting
	Value string `json:"value"` // as written in the file, with secrets redacted
	// default, preset medium, nightdesk.yaml:12, environment LLM_MODEL, flag, or the path of the inherited setting
	Source string `json:"source"`
}

// Effective returns every setting with its value and source, in display order.
func (c Config) Effective() []Effective {
	var all []Effective
	for _, f := range table(&c) {
		all = append(all, Effective{Setting: f.Setting, Value: f.show(), Source: c.source(f.Path)})
	}
	return all
}

// MarkdownList returns all settings as a Markdown list: path, environment variable, meaning, default. Settings that
// exist for each model role are listed once, with ROLE as a placeholder.
func MarkdownList() string {
	var b strings.Builder
	for _, s := range Settings() {
		path, env, what := s.Path, s.Env, s.Doc
		if of, ok := roleOf(s.Path); ok {
			if of.name != roles[0].name {
				continue
			}
			path, env = strings.Replace(path, of.name, "ROLE", 1), strings.Replace(env, strings.ToUpper(of.name), "ROLE", 1)
			what = "the same for one role only: " + roleNames() + ". Default: `" + s.Inherit + "`"
		}
		if s.Default != "" {
			what += ". Default: `" + s.Default + "`"
		}
		b.WriteString("- `" + path + "`, `" + env + "`: " + what + "\n")
	}
	return b.String()
}

func roleNames() string {
	var names []string
	for _, r := range roles {
		names = append(names, r.name)
	}
	return strings.Join(names, ", ")
}
