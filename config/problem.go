package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Problem is one thing that is wrong with the settings. It never contains a secret.
type Problem struct {
	Key    string // path of the setting; empty when the whole file is meant
	Value  string // redacted and clipped; empty when there is none to show
	Source string // nightdesk.yaml:12, environment LLM_MODEL, flag; empty for an argument
	Reason string // what is wrong, and what is allowed
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

// Problems is the error of Load and RunOptions: everything that is wrong, in the order of layers and of the table.
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

// about reports whether one of the settings has a problem.
func (p Problems) about(paths ...string) bool {
	return slices.ContainsFunc(p, func(problem Problem) bool { return slices.Contains(paths, problem.Key) })
}

// err returns p as an error, nil when there is no problem.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

const clipRunes = 80

// clip makes a foreign text fit for a message: one line, nothing that a terminal obeys, not too long.
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
