package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Tools holds the MCP servers of tools.file, which have the operator's own tools.
type Tools struct {
	File string // empty: none
	MCP  []MCPServer
}

// Names returns the names of all tools in the order shown to the model.
func (t Tools) Names() []string {
	var names []string
	for _, s := range t.MCP {
		names = append(names, s.ToolNames...)
	}
	return names
}

// Remote is a program to start or a service to call.
type Remote struct {
	Command []string // program and arguments; empty: URL
	Env     map[string]Secret
	URL     Secret // never shown
	Headers map[string]Secret
	Timeout time.Duration // 0: researching.tool_timeout
	// Missing lists required environment variables that are not set. This is not an error for a process that only
	// enqueues.
	Missing []string
	// Hidden lists texts that must not be shown: the values of variables, and other values as long as a key.
	Hidden []Secret
}

// A value of a tools file with at least leastKey bytes may be a key. A variable's value is a secret from leastSecret
// bytes on. Hiding a shorter one would protect nothing and garble words.
const leastKey, leastSecret = 16, 4

// MCPServer is a server of the Model Context Protocol.
type MCPServer struct {
	Name      string
	Allow     []string // allowed tools, by their names on the server
	ToolNames []string // their names in nightdesk, in the same order
	Remote
}

// remoteFile is a Remote in a tools file.
type remoteFile struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Timeout string            `json:"timeout"`
}

type serverFile struct {
	Tools []string `json:"tools"`
	Type  string   `json:"type"` // written by other programs; redundant here
	remoteFile
}

var ownName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,30}$`)

// readTools reads tools.file, if set. The file has the format that other programs use for MCP servers. ${NAME} in
// values of env and headers is replaced by that environment variable, so that the file needs no secrets.
func readTools(t *Tools, getenv func(string) string) Problems {
	if t.File == "" {
		return nil
	}
	r := toolsReader{getenv: getenv, dir: filepath.Dir(t.File), taken: map[string]bool{}}
	for _, name := range BuiltInToolNames() {
		r.taken[name] = true
	}
	data, err := readCapped(t.File)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return Problems{{Key: "tools.file", Value: t.File, Reason: err.Error()}}
	}
	r.file = t.File
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
		Tools   json.RawMessage            `json:"tools"`
	}
	if err := strict(data, &file); err != nil {
		r.problem("", "%s", err)
		return r.problems
	}
	if file.Tools != nil {
		r.problem("tools", "is gone, with commands and HTTP services: put an MCP server around each, as "+
			"`nightdesk help tools` shows, and name it in mcpServers")
	}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		t.MCP = append(t.MCP, r.server(name, file.Servers[name]))
	}
	return r.problems
}

type toolsReader struct {
	file, dir string
	getenv    func(string) string
	taken     map[string]bool
	problems  Problems
}

func (r *toolsReader) problem(key, format string, args ...any) {
	r.problems = append(r.problems, Problem{Key: key, Source: r.file, Reason: fmt.Sprintf(format, args...)})
}

// strict decodes JSON and rejects unknown keys. The error quotes no value, because it may be a secret.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("unexpected data after the first JSON value")
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(data[:min(len(data), int(syntax.Offset))], []byte("\n"))
		return fmt.Errorf("invalid JSON in line %d", line)
	case errors.As(err, &kind):
		return fmt.Errorf("%s must be of type %s", kind.Field, kind.Type)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func (r *toolsReader) server(name string, data json.RawMessage) MCPServer {
	key := "mcpServers." + clip(name)
	var f serverFile
	if err := strict(data, &f); err != nil {
		r.problem(key, "%s", err)
		return MCPServer{Name: name}
	}
	if !ownName.MatchString(name) {
		r.problem(key, "its name must be lower-case letters, digits and underscores, and begin with a letter")
	}
	if len(f.Tools) == 0 {
		r.problem(key, `needs "tools": the names of the tools that may be used`)
	}
	if f.Type == "sse" {
		r.problem(key, `has the unsupported type "sse": use the server's streamable HTTP address`)
	}
	s := MCPServer{Name: name, Allow: f.Tools, Remote: r.remote(key, f.remoteFile)}
	for _, tool := range f.Tools {
		full := mcpToolName(name, tool)
		r.name(key, full, tool)
		s.ToolNames = append(s.ToolNames, full)
	}
	return s
}

// mcpToolName returns the nightdesk name of a server's tool. It contains only characters that models and their
// servers accept.
func mcpToolName(server, tool string) string {
	clean := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, tool)
	name := server + "_" + clean
	return name[:min(len(name), 64)]
}

// name checks the name of a tool. full: the name in nightdesk; given: the name in the file.
func (r *toolsReader) name(key, full, given string) {
	switch {
	case strings.TrimSpace(given) == "":
		r.problem(key, "contains an empty tool name")
	case r.taken[full]:
		r.problem(key, "the tool name %s is already in use", full)
	}
	r.taken[full] = true
}

func (r *toolsReader) remote(key string, f remoteFile) Remote {
	var out Remote
	out.Env, out.Headers = r.secrets(key+".env", f.Env, &out), r.secrets(key+".headers", f.Headers, &out)
	if (f.Command == "") == (f.URL == "") {
		r.problem(key, `needs either "command" or "url"`)
	}
	if f.Command != "" {
		out.Command = append([]string{f.Command}, f.Args...)
		if strings.ContainsRune(f.Command, filepath.Separator) && !filepath.IsAbs(f.Command) { // relative to the file
			out.Command[0], _ = filepath.Abs(filepath.Join(r.dir, f.Command))
		}
	}
	if f.URL != "" {
		if u, err := url.Parse(f.URL); err != nil || httpAddress(f.URL) != nil || u.User != nil {
			r.problem(key, "its url must be http:// or https://, without user and password; put keys in headers")
		}
		out.URL = NewSecret(f.URL)
	}
	if f.Timeout != "" {
		if err := duration(&out.Timeout, time.Second, 30*time.Minute).set(f.Timeout); err != nil {
			r.problem(key+".timeout", "%s", err)
		}
	}
	return out
}

var inBraces = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// secrets replaces variables in values, and records missing variables and hidden texts in of.
func (r *toolsReader) secrets(key string, values map[string]string, of *Remote) map[string]Secret {
	out := map[string]Secret{}
	for name, value := range values {
		filled := inBraces.ReplaceAllStringFunc(value, func(v string) string {
			text := r.getenv(v[2 : len(v)-1])
			if text == "" {
				of.Missing = append(of.Missing, v[2:len(v)-1])
			}
			if len(text) >= leastSecret {
				of.Hidden = append(of.Hidden, NewSecret(text))
			}
			return text
		})
		if len(filled) >= leastKey {
			of.Hidden = append(of.Hidden, NewSecret(filled))
		}
		if printable(filled) != nil || strings.ContainsAny(name, "=:\x00\r\n ") || name == "" {
			r.problem(key+"."+clip(name), "contains invalid characters")
		}
		out[name] = NewSecret(filled)
	}
	return out
}
