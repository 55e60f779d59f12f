package config

import (
	"encoding/json"
	"fmt"
	"strings"
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
		for _, f := range scheduleFields(&s) {
			quoted, _ := json.Marshal(f.reveal())
			b.WriteString("    " + f.Path + ": " + string(quoted) + "\n")
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
