package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Problem is one error in the settings. It never contains a secret.
type Problem struct {
	Key    string // path of the setting; empty for the whole file
	Value  string // redacted and clipped; empty if there is none to show
	Source string // nightdesk.yaml:12, environment LLM_MODEL, flag; empty for an argument
	Reason string // what is wrong, and which values are allowed
}

// String returns the problem as one line: source: key "value": reason.
func (p Problem) String() string {
	var b strings.Builder
	if p.Source != "" {
		b.WriteString(p.Source + ": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key)
		if p.Value != "" {
			fmt.Fprintf(&b, " %q", p.Value)
		}
		b.WriteString(": ")
	}
	b.WriteString(p.Reason)
	return b.String()
}

// Problems is the error of Load and RunOptions. It lists all problems in the order of sources and table rows.
type Problems []Problem

// Error lists the problems, one line each.
func (p Problems) Error() string {
	if len(p) == 1 {
		return "settings: " + p[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "settings: %d problems", len(p))
	for _, problem := range p {
		b.WriteString("\n  " + problem.String())
	}
	return b.String()
}

// about reports whether one of the given settings has a problem.
func (p Problems) about(paths ...string) bool {
	return slices.ContainsFunc(p, func(problem Problem) bool { return slices.Contains(paths, problem.Key) })
}

// err returns p as an error, or nil if there are no problems.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

const clipRunes = 80

// clip prepares external text for a message: one line, no control characters, limited length.
func clip(text string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text))
	if len(runes) <= clipRunes {
		return string(runes)
	}
	return string(runes[:clipRunes]) + "..."
}
