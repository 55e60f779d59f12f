package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
)

// File returns a settings file with the settings that the user set in c, including secrets.
func File(c Config) string {
	var b strings.Builder
	for _, f := range table(&c) {
		if c.Given(f.Path) {
			quoted, _ := json.Marshal(f.reveal())
			b.WriteString(f.Path + ": " + string(quoted) + "\n")
		}
	}
	for i, s := range c.Schedules {
		if i == 0 {
			b.WriteString("schedules:\n")
		}
		fmt.Fprintf(&b, "  %q:\n", s.Name)
		for _, r := range scheduleRows(&s) {
			quoted, _ := json.Marshal(r.reveal())
			b.WriteString("    " + r.path + ": " + string(quoted) + "\n")
		}
	}
	return b.String()
}

// KindsOf returns the source types that allow a built-in tool.
func KindsOf(tool string) []string {
	for _, t := range builtInTools(new(Researching)) {
		if t.name == tool {
			return t.kinds
		}
	}
	return nil
}

// ScheduleKeys returns the settings of a schedule.
func ScheduleKeys() (keys []string) {
	for _, r := range scheduleRows(new(schedule.Spec)) {
		keys = append(keys, r.path)
	}
	return keys
}

// Removed returns the paths of removed settings.
func Removed() []string { return slices.Sorted(maps.Keys(removedPaths())) }

// RunOptionsOf returns the options of a run with values of its own; an empty value means the setting.
func RunOptionsOf(c Config, preset, language, kb, style string) (topicqueue.Options, error) {
	own := map[string]string{"preset": preset, "language": language, "kb_name": kb, "reporting.citation_style": style}
	maps.DeleteFunc(own, func(_, value string) bool { return value == "" })
	c, err := c.With(own)
	if err != nil {
		return topicqueue.Options{}, err
	}
	return c.RunOptions(c.KBName)
}
