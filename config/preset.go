package config

import (
	"slices"

	"nightdesk/topicqueue"
)

// Preset is a named set of limits of a run. Settings made by the user take precedence.
type Preset struct {
	Name   string
	Doc    string
	Values map[string]string // by setting path, as written in the file
}

// Presets returns all presets, smallest first.
func Presets() []Preset {
	return []Preset{
		{"shallow", "an answer from one conversation with a model, about 20 s, at most 5 minutes; without a model as quick",
			along(topicqueue.PathShallow,
				limits(topicqueue.DecomposeManual, "1", topicqueue.IterationFixed, "1", "0", "5m", "1m"))},
		{"route", "a model chooses between shallow and auto, and says why",
			along(topicqueue.PathRoute,
				limits(topicqueue.DecomposeAuto, "8", topicqueue.IterationFlexible, "6", "1", "90m", "15m"))},
		{"quick", "one sub-topic, one iteration, 15 minutes",
			limits(topicqueue.DecomposeManual, "1", topicqueue.IterationFixed, "1", "0", "15m", "3m")},
		{"medium", "five sub-topics, up to four iterations each, as many as the evidence needs, 45 minutes",
			limits(topicqueue.DecomposeManual, "5", topicqueue.IterationFlexible, "4", "1", "45m", "9m")},
		{"deep", "eight sub-topics, seven iterations each, 90 minutes",
			limits(topicqueue.DecomposeManual, "8", topicqueue.IterationFixed, "7", "2", "90m", "15m")},
		{"auto", "up to eight sub-topics, up to six iterations, as many as the topic needs, 90 minutes",
			limits(topicqueue.DecomposeAuto, "8", topicqueue.IterationFlexible, "6", "1", "90m", "15m")},
	}
}

func limits(decompose, subtopics, iterate, iterations, loops, duration, writing string) map[string]string {
	number := "planning.decompose.initial_subtopics"
	if decompose == topicqueue.DecomposeAuto {
		number = "planning.decompose.auto_max_subtopics"
	}
	return map[string]string{
		"planning.decompose.mode":    decompose,
		number:                       subtopics,
		"researching.iteration_mode": iterate,
		"researching.max_iterations": iterations,
		"researching.max_loops":      loops,
		"limits.run_duration":        duration,
		"limits.writing_time":        writing,
	}
}

// along adds the path of a run to its limits.
func along(path string, values map[string]string) map[string]string {
	values["answering.path"] = path
	return values
}

// PresetNames returns the names of all presets, smallest first.
func PresetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// isGoverned reports whether a preset sets this setting.
func isGoverned(presets []Preset, path string) bool {
	return slices.ContainsFunc(presets, func(p Preset) bool { _, ok := p.Values[path]; return ok })
}

// usePreset sets the values of the preset c.Preset, or else the defaults, for the settings that presets govern and
// the user has not set. fields: the table of c.
func usePreset(c *Config, fields []field) {
	var chosen map[string]string
	presets := Presets()
	for _, p := range presets {
		if p.Name == c.Preset {
			chosen = p.Values
		}
	}
	for _, f := range fields {
		if !isGoverned(presets, f.Path) || c.Given(f.Path) {
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
