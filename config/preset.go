package config

import (
	"slices"

	"nightdesk/topicqueue"
)

// Preset is a named set of limits of a run. Settings made by the user take precedence.
type Preset struct {
	Name        string
	Doc         string
	QuotedWords int               // of a report without a model, about
	Values      map[string]string // by setting path, as written in the file
}

// Presets returns all presets in display order. The order also says what each can afford: when a budget is too small
// for a preset, `enqueue` suggests the last one that fits. Add a preset before those that cost more.
func Presets() []Preset {
	return []Preset{
		{Name: "shallow", QuotedWords: 300,
			Doc: "an answer from one conversation with a model, about 20 s, at most 5 minutes; without a model as quick",
			Values: limits{path: topicqueue.PathShallow, decompose: topicqueue.DecomposeManual, subTopics: "1",
				iterate: topicqueue.IterationFixed, iterations: "1", loops: "0", duration: "5m", writing: "1m"}.values()},
		{Name: "route", QuotedWords: 900,
			Doc: "a model chooses between shallow and auto, and says why",
			Values: limits{path: topicqueue.PathRoute, decompose: topicqueue.DecomposeAuto, subTopics: "8",
				iterate: topicqueue.IterationFlexible, iterations: "6", loops: "1", duration: "90m", writing: "15m"}.values()},
		{Name: "quick", QuotedWords: 300,
			Doc: "one sub-topic, one iteration, 15 minutes",
			Values: limits{decompose: topicqueue.DecomposeManual, subTopics: "1",
				iterate: topicqueue.IterationFixed, iterations: "1", loops: "0", duration: "15m", writing: "3m"}.values()},
		{Name: "medium", QuotedWords: 900,
			Doc: "five sub-topics, up to four iterations each, as many as the evidence needs, 45 minutes",
			Values: limits{decompose: topicqueue.DecomposeManual, subTopics: "5",
				iterate: topicqueue.IterationFlexible, iterations: "4", loops: "1", duration: "45m", writing: "9m"}.values()},
		{Name: "deep", QuotedWords: 1800,
			Doc: "eight sub-topics, seven iterations each, 90 minutes",
			Values: limits{decompose: topicqueue.DecomposeManual, subTopics: "8",
				iterate: topicqueue.IterationFixed, iterations: "7", loops: "2", duration: "90m", writing: "15m"}.values()},
		{Name: "auto", QuotedWords: 1800,
			Doc: "up to eight sub-topics, up to six iterations, as many as the topic needs, 90 minutes",
			Values: limits{decompose: topicqueue.DecomposeAuto, subTopics: "8",
				iterate: topicqueue.IterationFlexible, iterations: "6", loops: "1", duration: "90m", writing: "15m"}.values()},
	}
}

// limits are the values of a preset, as written in the file.
type limits struct {
	path                       string // empty: the default, a researched report
	decompose, subTopics       string
	iterate, iterations, loops string
	duration, writing          string
}

// values returns the limits by setting path.
func (l limits) values() map[string]string {
	number := "planning.decompose.initial_subtopics"
	if l.decompose == topicqueue.DecomposeAuto {
		number = "planning.decompose.auto_max_subtopics"
	}
	values := map[string]string{
		"planning.decompose.mode":    l.decompose,
		number:                       l.subTopics,
		"researching.iteration_mode": l.iterate,
		"researching.max_iterations": l.iterations,
		"researching.max_loops":      l.loops,
		"limits.run_duration":        l.duration,
		"limits.writing_time":        l.writing,
	}
	if l.path != "" {
		values["answering.path"] = l.path
	}
	return values
}

// PresetNames returns the names of all presets, in the order of Presets.
func PresetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// quotedWords returns the number of quoted words of a preset.
func quotedWords(preset string) int {
	for _, p := range Presets() {
		if p.Name == preset {
			return p.QuotedWords
		}
	}
	return 0
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
