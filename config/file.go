package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"nightdesk/topicqueue/schedule"
)

// The parser's time grows quadratically with the nesting depth (100 KB of [ take 20 s) and with the number of keys in
// a group (80,000 take 11 s). Both need long lines, many lines, brackets or dashes. No real settings file comes near
// these limits.
const (
	maxFileBytes = 1 << 20
	maxLines     = 10_000
	maxLineBytes = 8 << 10
	maxNesting   = 32  // open brackets, or dashes in a line
	maxProblems  = 100 // maximum number of problems listed per file
)

// entry is one setting in a file.
type entry struct{ path, text, source string }

// readFile returns a file's settings in file order, each at most once, its schedules, and its problems.
func readFile(path string, explicit bool, fields []field) ([]entry, []schedule.Spec, Problems) {
	if path == "" {
		return nil, nil, nil
	}
	data, err := readCapped(path)
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, Problems{{Reason: "read settings file: " + err.Error()}}
	}
	return parseFile(path, data, fields)
}

func readCapped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("%s has more than %d bytes: is it a settings file?", path, maxFileBytes)
	}
	return data, err
}

// parseFile reads YAML as text. The setting's own type interprets the text of a value, so that `language: no` is
// Norwegian. Anchors, aliases, merge keys and tags are rejected, so nothing can expand.
func parseFile(name string, data []byte, fields []field) ([]entry, []schedule.Spec, Problems) {
	w := walker{name: name, groups: map[string]bool{}, settings: map[string]bool{}, seen: map[string]int{}}
	for _, f := range fields {
		w.settings[f.Path] = true
		for path := parent(f.Path); path != ""; path = parent(path) {
			w.groups[path] = true
		}
	}
	for name := range otherNames {
		w.groups[parent(name)] = true
	}
	for path := range removedPaths() { // the group of a removed setting may be gone too
		if group := parent(path); group != "" {
			w.groups[group] = true
		}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if line, reason := tooMuch(data); reason != "" {
		w.problem(line, "", reason)
		return nil, nil, w.problems
	}
	file, err := parse(data)
	if err != nil {
		line, reason := describe(err)
		w.problem(line, "", "not valid YAML: "+reason)
		return nil, nil, w.problems
	}
	bodies := 0
	for _, doc := range file.Docs {
		switch doc.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
			continue
		}
		if bodies++; bodies > 1 {
			w.problem(lineOf(doc.Body), "", "only one YAML document is allowed: remove the --- above it")
			break
		}
		w.walk("", doc.Body)
	}
	if w.cut {
		w.problem(0, "", "further problems are not listed")
	}
	return w.entries, w.schedules, w.problems
}

// tooMuch returns the line and the reason if a text exceeds the limits for the parser. The reason is "" if it does
// not.
func tooMuch(data []byte) (line int, reason string) {
	depth := 0
	for text := range bytes.Lines(data) {
		line++
		depth += bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{")) - bytes.Count(text, []byte("]")) -
			bytes.Count(text, []byte("}"))
		switch {
		case line > maxLines:
			return line, fmt.Sprintf("the file has more than %d lines", maxLines)
		case !utf8.Valid(text):
			return line, "the file is not UTF-8"
		case len(text) > maxLineBytes:
			return line, fmt.Sprintf("the line has more than %d bytes", maxLineBytes)
		case depth > maxNesting || bytes.Count(text, []byte("- ")) > maxNesting:
			return line, fmt.Sprintf("nested more than %d deep", maxNesting)
		}
	}
	return 0, ""
}

// parse calls the YAML parser and converts its panics to errors.
func parse(data []byte) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, errors.New("the YAML parser failed")
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

// describe returns line and message of a syntax error. It omits the quoted lines and values of the original error,
// because they may contain a key.
func describe(err error) (line int, reason string) {
	var located yaml.Error
	if !errors.As(err, &located) {
		return 0, "it cannot be read"
	}
	if token := located.GetToken(); token != nil && token.Position != nil {
		line = token.Position.Line
	}
	reason, _, _ = strings.Cut(located.GetMessage(), `"`)
	return line, strings.TrimRight(reason, ": ")
}

// walker flattens a YAML tree.
type walker struct {
	name             string
	settings, groups map[string]bool
	seen             map[string]int // line of each setting
	entries          []entry
	schedules        []schedule.Spec
	problems         Problems
	cut              bool // further problems were omitted
}

func (w *walker) source(line int) string {
	if line == 0 {
		return w.name
	}
	return fmt.Sprintf("%s:%d", w.name, line)
}

func (w *walker) problem(line int, key, reason string) {
	w.problems = append(w.problems, Problem{Key: clip(key), Source: w.source(line), Reason: reason})
}

// pairs calls each for the keys of the group at path; path is "" for the top level.
func (w *walker) pairs(path string, node ast.Node, each func(line int, key string, value ast.Node)) {
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			line := lineOf(v.Key)
			key, ok := scalar(v.Key)
			switch {
			case len(w.problems) >= maxProblems:
				w.cut = true
				return
			case !ok:
				w.problem(line, path, "has a key that is not a plain string")
			default:
				each(line, key, v.Value)
			}
		}
	case *ast.NullNode: // all settings of the group are commented out
	default:
		w.problem(lineOf(node), path, "must contain settings as key: value")
	}
}

// walk reads node as the content of the group at path.
func (w *walker) walk(group string, node ast.Node) {
	w.pairs(group, node, func(line int, key string, value ast.Node) { w.setting(group, line, key, value) })
}

func (w *walker) setting(group string, line int, key string, value ast.Node) {
	path := key
	if group != "" {
		path = settingPath(group + "." + key)
	}
	if w.groups[path] {
		w.walk(path, value)
		return
	}
	if !w.settings[path] && path != schedulesPath {
		w.problem(line, path, unknownSetting(path))
		return
	}
	if path == schedulesPath {
		if !w.twice(line, path) {
			w.walkSchedules(value)
		}
		return
	}
	if text, ok := w.value(line, path, value); ok {
		w.entries = append(w.entries, entry{path, text, w.source(line)})
	}
}

// value returns the text of a setting, and false if there is none: it is set twice, it is not a single value, or it is
// a key without a value, which sets nothing.
func (w *walker) value(line int, path string, node ast.Node) (string, bool) {
	if w.twice(line, path) || node.Type() == ast.NullType {
		return "", false
	}
	text, ok := scalar(node)
	if !ok {
		w.problem(line, path, "must be a single value without anchor, alias or tag")
	}
	return text, ok
}

// twice reports whether a path occurred before, and records that as a problem.
func (w *walker) twice(line int, path string) bool {
	first, twice := w.seen[path]
	if twice {
		w.problem(line, path, fmt.Sprintf("is set twice; the first is in line %d", first))
		return true
	}
	w.seen[path] = line
	return false
}

// scalar returns the text of a plain or quoted value as written in the file, and false for other nodes.
func scalar(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

func lineOf(node ast.Node) int {
	if token := node.GetToken(); token != nil && token.Position != nil {
		return token.Position.Line
	}
	return 0
}

// parent returns the group of a path, or "" at the top level.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		return path[:i]
	}
	return ""
}
