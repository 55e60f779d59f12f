package config

import (
	"slices"
	"strings"
)

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
		path, env, what, value := s.Path, s.Env, describeSetting(s), shownDefault(s)
		if name, ok := roleOf(s.Path); ok {
			if name != roles[0].name {
				continue
			}
			path, env = strings.Replace(path, name, "ROLE", 1), strings.Replace(env, strings.ToUpper(name), "ROLE", 1)
			what, value = "the same for one role only: "+roleNames(), roleDefaults(s)
		}
		if value != "" {
			what += ". Default: " + value
		}
		b.WriteString("- " + code(path) + ", " + code(env) + ": " + what + "\n")
	}
	return b.String()
}

func describeSetting(s Setting) string {
	what := s.Doc
	if s.Type == "choice" {
		what += " (" + strings.TrimPrefix(s.Allowed, "one of ") + ")"
	}
	return what
}

// shownDefault returns the values that presets set, followed by the default.
func shownDefault(s Setting) string {
	var parts []string
	for _, p := range Presets() {
		if text, ok := p.Values[s.Path]; ok && text != s.Default {
			parts = append(parts, p.Name+" "+code(text))
		}
	}
	if len(parts) == 0 {
		return code(s.Default)
	}
	if len(parts) < len(Presets()) {
		parts = append(parts, "else "+code(s.Default))
	}
	return strings.Join(parts, ", ")
}

// roleDefaults returns the defaults of a setting that exists for each role.
func roleDefaults(s Setting) string {
	var parts []string
	for _, other := range Settings() {
		if name, ok := roleOf(other.Path); ok && lastKey(other.Path) == lastKey(s.Path) && other.Default != "" {
			parts = append(parts, name+" "+code(other.Default))
		}
	}
	main := code("llm." + lastKey(s.Path))
	if len(parts) == 0 {
		return main
	}
	return strings.Join(parts, ", ") + ", else " + main
}

// roleOf returns the role that a setting belongs to.
func roleOf(path string) (string, bool) {
	name, ok := strings.CutPrefix(parent(path), "llm.")
	return name, ok
}

func roleNames() string {
	var names []string
	for _, r := range roles {
		names = append(names, r.name)
	}
	return strings.Join(names, ", ")
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// Example returns a nightdesk.yaml with every setting commented out, with its default, doc and environment variable.
// Removing one # sets one setting.
func Example() string {
	var b strings.Builder
	b.WriteString(`# nightdesk.yaml: every setting with its default. Remove the # before a setting to set it.
# A flag overrides the environment variable in brackets, which overrides this file, which overrides the preset.
# Values are literal: $VARIABLES are not expanded.
`)
	var open []string
	for _, s := range Settings() {
		groups := strings.Split(s.Path, ".")
		key, groups := groups[len(groups)-1], groups[:len(groups)-1]
		if !slices.Equal(groups, open) || len(groups) == 0 {
			b.WriteString("\n")
		}
		for i, group := range groups {
			if i >= len(open) || group != open[i] {
				open = append(slices.Clone(groups[:i]), group)
				b.WriteString(strings.Repeat("  ", i) + group + ":" + aboutGroup(groups) + "\n")
			}
		}
		open = groups
		indent := strings.Repeat("  ", len(groups))
		if _, ok := roleOf(s.Path); !ok {
			b.WriteString(indent + "# " + describeSetting(s) + presetNote(s) + " [" + s.Env + "]\n")
		}
		b.WriteString(strings.TrimRight(indent+"#"+key+": "+exampleValue(s), " ") + "\n")
	}
	b.WriteString(scheduleExample())
	return b.String()
}

// aboutGroup returns a comment for a role's group, whose settings repeat the main ones.
func aboutGroup(groups []string) string {
	for _, r := range roles {
		if strings.Join(groups, ".") == "llm."+r.name {
			return " # " + r.does + "; unset values are inherited from above [LLM_" + strings.ToUpper(r.name) + "_...]"
		}
	}
	return ""
}

// presetNote returns the values that presets set.
func presetNote(s Setting) string {
	if isGoverned(Presets(), s.Path) {
		return "; unset: " + strings.ReplaceAll(shownDefault(s), "`", "")
	}
	return ""
}

// exampleValue returns the default. It is blank if an unset value inherits from another setting.
func exampleValue(s Setting) string {
	if s.Default == "" && s.Inherit == "" {
		return `""`
	}
	return s.Default
}
