package config

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"nightdesk/topicqueue"
)

// Preset is a named set of limits of a run. Settings made by the user take precedence.
type Preset struct {
	Name        string
	QuotedWords int               // of a report without a model, about
	File        string            // YAML, as a user can copy it into a settings file
	Values      map[string]string // by setting path, as written in the file
}

//go:embed presets/*.yaml
var presetFiles embed.FS

// presetOrder lists all presets in display order. The order also says what each can afford: when a budget is too small
// for a preset, `enqueue` suggests the last one that fits. Add a preset before those that cost more.
var presetOrder = []Preset{
	{Name: topicqueue.PathShallow, QuotedWords: 300},
	{Name: topicqueue.PathRoute, QuotedWords: 900},
	{Name: "quick", QuotedWords: 600},
	{Name: "medium", QuotedWords: 900},
	{Name: "deep", QuotedWords: 1800},
	{Name: "auto", QuotedWords: 1800},
}

// Presets returns all presets in display order.
var Presets = sync.OnceValue(func() []Preset {
	presets := slices.Clone(presetOrder)
	for i := range presets {
		text, _ := presetFiles.ReadFile("presets/" + presets[i].Name + ".yaml") // embedded files can always be read
		presets[i].File, presets[i].Values = string(text), map[string]string{}
		for line := range strings.Lines(presets[i].File) {
			if path, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
				presets[i].Values[path] = strings.TrimSpace(value)
			}
		}
	}
	return presets
})

// PresetNames returns the names of all presets, in the order of Presets.
func PresetNames() []string {
	var names []string
	for _, p := range presetOrder {
		names = append(names, p.Name)
	}
	return names
}

// preset returns the preset with the given name.
func preset(name string) Preset {
	for _, p := range Presets() {
		if p.Name == name {
			return p
		}
	}
	return Preset{}
}

// isGoverned reports whether a preset sets this setting.
func isGoverned(path string) bool {
	return slices.ContainsFunc(Presets(), func(p Preset) bool { _, ok := p.Values[path]; return ok })
}

// usePreset sets the values of the preset c.Preset, or else the defaults, for the settings that presets govern and
// the user has not set. fields: the table of c.
func usePreset(c *Config, fields []field) {
	chosen := preset(c.Preset).Values
	for _, f := range fields {
		if !isGoverned(f.Path) || c.Given(f.Path) {
			continue
		}
		text, ok := chosen[f.Path]
		if ok {
			c.origins[f.Path] = origin{text: "preset " + c.Preset}
		} else {
			text = f.Default
			delete(c.origins, f.Path)
		}
		_ = f.set(text) // tests ensure that presets and defaults pass the checks
	}
}
