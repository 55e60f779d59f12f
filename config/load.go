package config

import (
	"maps"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// Load reads the settings. In increasing order of precedence, the sources are: default, preset, file, environment,
// overrides.
//
// path: the settings file, empty for none; a missing file is an error only if explicit is set. getenv: os.Getenv; an
// empty variable counts as unset. overrides: values of flags by setting path, may be nil.
//
// An error is a Problems with all problems from all sources; the Config is then empty. Values are not expanded, so
// $HOME in a file is literal. Config.Notices returns settings that are valid but unusual.
func Load(path string, explicit bool, getenv func(string) string, overrides map[string]string) (Config, error) {
	c := Config{origins: map[string]origin{}}
	fields := table(&c)
	entries, schedules, problems := readFile(path, explicit, fields)
	c.Schedules = schedules

	known := map[string]field{}
	for _, f := range fields {
		known[f.Path] = f
		if err := f.set(f.Default); f.Default != "" && err != nil {
			problems = append(problems, Problem{Key: f.Path, Value: f.Default, Source: "default", Reason: err.Error()})
		}
	}
	apply := func(f field, text, source string) {
		text = strings.TrimSpace(text) // a key read from a file ends with a line break
		c.origins[f.Path] = origin{given: true, text: source}
		if err := f.set(text); err != nil {
			problems = append(problems, Problem{Key: f.Path, Value: clip(f.redact(text)), Source: source, Reason: err.Error()})
		}
	}
	for _, e := range entries {
		apply(known[e.path], e.text, e.source)
	}
	for _, f := range fields {
		if text := getenv(f.Env); text != "" {
			apply(f, text, "environment "+f.Env)
		}
	}
	problems = append(problems, removedVariables(getenv, &c.S3)...)
	for _, path := range slices.Sorted(maps.Keys(overrides)) {
		if f, ok := known[path]; ok {
			apply(f, overrides[path], "flag")
		} else {
			problems = append(problems, Problem{Key: clip(path), Source: "flag", Reason: unknownSetting(path)})
		}
	}

	usePreset(&c, fields)
	completeModels(&c, known, getenv, apply)
	completeWebSearch(&c)
	problems = append(problems, checkModels(c, problems)...)
	problems = append(problems, checkServe(c)...)
	problems = append(problems, readTools(&c.Tools, getenv)...)
	if err := problems.err(); err != nil {
		return Config{}, err
	}
	c.notices = unused(c)
	return c, nil
}

// unknownSetting returns the reason for an unknown path: the replacement of a removed setting, or suggestions.
func unknownSetting(path string) string {
	if instead, ok := removedPaths()[path]; ok {
		return wasRemoved + instead
	}
	var typos, namesakes []string
	for _, s := range Settings() {
		switch {
		case len(path) <= clipRunes && topicqueue.EditDistance(s.Path, path) <= 2:
			typos = append(typos, s.Path)
		case lastKey(s.Path) == lastKey(path):
			namesakes = append(namesakes, s.Path)
		}
	}
	near := typos
	if len(near) == 0 {
		near = namesakes
	}
	if len(near) == 0 {
		return "unknown setting; `nightdesk config` lists all settings"
	}
	return "unknown setting; did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?"
}

// otherNames maps names in the message schema to setting paths.
var otherNames = map[string]string{
	"researching.strategy_mode":    "researching.strategy",
	"speech_synthesis_config.mode": "reporting.audio",
}

// settingPath returns the path of a setting, given any of its names.
func settingPath(path string) string {
	if own, ok := otherNames[path]; ok {
		return own
	}
	return path
}
