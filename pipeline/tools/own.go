package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/topicqueue"
)

// Own is a tool that the operator supplies by an MCP server. A call's query is a JSON object that fits the schema
// Arguments. The output is untrusted, like a web page.
type Own struct {
	Name        string
	Description string // by the server; cut to maxDescription
	Arguments   json.RawMessage
	Timeout     time.Duration // limit for one call; 0 means only that of the runner
	Secrets     []string      // secrets that the tool receives, redacted from all its text; none is empty
	// Do makes a call with arguments that fit the schema. Its error tells the model why there is no output.
	Do func(ctx context.Context, arguments json.RawMessage) (Output, error)
}

// Output is the result of a call of an own tool.
type Output struct {
	Text    string              // as received; HTML is read as a page
	Sources []topicqueue.Source // sources with their own addresses; if empty, Text is the source
}

// Size limits for own tools, in bytes.
const (
	maxDescription = 1_000
	maxSchema      = 4_000
)

// NewOwn returns o as a Tool. The error says what is wrong with the schema.
func NewOwn(o Own) (Tool, error) {
	schema, err := compile(o.Arguments)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", o.Name, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, o.Arguments); err != nil {
		return nil, fmt.Errorf("tool %s: %w", o.Name, err)
	}
	if compact.Len() > maxSchema {
		return nil, fmt.Errorf("tool %s: its schema has %d bytes, at most %d are shown to a model", o.Name, compact.Len(),
			maxSchema)
	}
	o.Arguments = compact.Bytes()
	return &ownTool{o, schema}, nil
}

func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("its schema is not valid JSON: %w", err)
	}
	object, ok := doc.(map[string]any)
	if !ok || object["type"] != "object" {
		return nil, errors.New(`its schema must describe an object: {"type": "object", "properties": {...}}`)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema cannot load files or addresses
	if err := c.AddResource("arguments.json", doc); err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	compiled, err := c.Compile("arguments.json")
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	return compiled, nil
}

type ownTool struct {
	Own
	schema *jsonschema.Schema
}

// SchemaOf returns the JSON schema of a tool whose query is an object, or nil for a tool whose query is text.
func SchemaOf(t Tool) json.RawMessage {
	if own, ok := t.(*ownTool); ok {
		return own.Arguments
	}
	return nil
}

// Name implements Tool.
func (t *ownTool) Name() string { return t.Own.Name }

// Description implements Tool. It includes the schema for models that do not get it separately.
func (t *ownTool) Description() string {
	about := topicqueue.Clip(topicqueue.OneLine(t.Own.Description), maxDescription)
	return strings.TrimSpace(about + " Its query is a JSON object with this schema: " + string(t.Arguments))
}

// Call implements Tool.
func (t *ownTool) Call(ctx context.Context, call Call) (Result, error) {
	arguments, problem := t.arguments(call.Query)
	if problem != "" {
		return Result{Failed: true, Text: fmt.Sprintf("%s was not called: %s", t.Own.Name, problem)}, nil
	}
	callCtx, cancel := ctx, func() {}
	if t.Timeout > 0 {
		callCtx, cancel = context.WithTimeoutCause(ctx, t.Timeout, errTimeout)
	}
	out, err := t.Do(callCtx, arguments)
	late := timedOut(ctx, callCtx)
	cancel()
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case late:
		return Result{Failed: true, Text: fmt.Sprintf("%s did not answer within %s.", t.Own.Name, t.Timeout)}, nil
	case err != nil:
		return Result{Failed: true, Text: t.Own.Name + ": " + topicqueue.Clip(topicqueue.OneLine(t.hidden(err.Error())),
			maxDescription)}, nil
	}
	return t.result(arguments, out), nil
}

// arguments parses a query: an object, optionally in a code fence, or plain text for a tool that takes one text.
func (t *ownTool) arguments(query string) (arguments json.RawMessage, problem string) {
	query = strings.TrimSpace(unfenced(query))
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(query))
	if _, ok := doc.(map[string]any); err != nil || !ok {
		name := t.onlyText()
		if name == "" || query == "" || strings.ContainsAny(query[:1], "{[") {
			return nil, "its query must be a JSON object with this schema: " + string(t.Arguments)
		}
		doc = map[string]any{name: query}
	}
	if err := t.schema.Validate(doc); err != nil {
		return nil, "its arguments do not fit: " + topicqueue.Clip(topicqueue.OneLine(err.Error()), maxDescription)
	}
	if arguments, err = json.Marshal(doc); err != nil {
		return nil, "its arguments cannot be read"
	}
	return arguments, ""
}

// onlyText returns the name of the string argument that plain text is meant for: the only required argument, or the
// only argument if none is required. It returns "" if there is no such argument.
func (t *ownTool) onlyText() string {
	names := t.schema.Required
	if len(names) == 0 && len(t.schema.Properties) == 1 {
		for name := range t.schema.Properties {
			names = []string{name}
		}
	}
	if len(names) != 1 {
		return ""
	}
	if p := t.schema.Properties[names[0]]; p == nil || p.Types == nil || p.Types.String() != "[string]" {
		return ""
	}
	return names[0]
}

// hidden returns text with the secrets redacted.
func (t *ownTool) hidden(text string) string {
	for _, secret := range t.Secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// result converts the output of a call to sources. A source without its own address gets the stored answer as its
// document, in which a reader also finds tool and arguments.
func (t *ownTool) result(arguments json.RawMessage, out Output) Result {
	shown := topicqueue.Clip(topicqueue.OneLine(t.hidden(string(arguments))), 300)
	head := fmt.Sprintf("Result of %s %s\n", t.Own.Name, shown)
	now := time.Now().UTC()
	if len(out.Sources) == 0 {
		text := t.readable(out.Text)
		if text == "" {
			return Result{Text: t.Own.Name + " returned nothing for " + shown + "."}
		}
		head = "[1] " + head
		s := topicqueue.Source{Kind: topicqueue.SourceTool, Title: "Result of " + t.Own.Name, Section: []string{shown},
			RetrievedAt: now, Text: text, Hash: topicqueue.TextHash(text), Offset: len(head)}
		result := Result{Text: head + text}
		s.Document = topicqueue.PagePath(topicqueue.TextHash(result.Text))
		result.Sources = []topicqueue.Source{s}
		return result
	}
	result := Result{Text: head}
	for _, s := range out.Sources {
		s.Kind, s.RetrievedAt, s.Text = topicqueue.SourceTool, now, t.readable(s.Text)
		s.Title, s.URL = cmp.Or(topicqueue.OneLine(t.hidden(s.Title)), "Result of "+t.Own.Name), t.hidden(s.URL)
		if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			s.URL = ""
		}
		if s.URL == "" {
			s.Section = []string{shown}
		}
		if s.Text == "" {
			result.Named = append(result.Named, s)
			continue
		}
		result.Sources = append(result.Sources, s)
		result.Text += fmt.Sprintf("\n[%d] %s %s\n%s\n", len(result.Sources), s.Title, s.URL, s.Text)
	}
	document := topicqueue.PagePath(topicqueue.TextHash(result.Text))
	for i := range result.Sources {
		if s := &result.Sources[i]; s.URL == "" {
			s.Document = document
		}
	}
	return result
}

// readable returns at most MaxAnswer bytes of text, without secrets, and without markup if it is an HTML page.
func (t *ownTool) readable(text string) string {
	text = strings.TrimSpace(t.hidden(topicqueue.Printable(text)))
	if len(text) > MaxAnswer { // before parsing, so that the part cut off costs nothing
		text = strings.ToValidUTF8(text[:MaxAnswer], "")
	}
	start := strings.ToLower(text[:min(len(text), 200)])
	if strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") || strings.HasPrefix(start,
		"<body") {
		page := extract.HTML(text)
		text = strings.TrimSpace(page.Title + "\n\n" + page.Text)
	}
	return text
}

// ReadOutput parses the text of an answer: an object {"sources": [{"title", "url", "date", "text"}]}, or
// any other text unchanged.
func ReadOutput(body []byte) Output {
	var o struct {
		Sources []struct{ Title, URL, Date, Text string }
	}
	if trimmed := bytes.TrimSpace(body); bytes.HasPrefix(trimmed, []byte("{")) && json.Unmarshal(trimmed, &o) == nil &&
		len(o.Sources) > 0 {
		var out Output
		for _, s := range o.Sources {
			out.Sources = append(out.Sources, topicqueue.Source{Title: s.Title, URL: s.URL,
				Date: topicqueue.Clip(topicqueue.OneLine(s.Date), 10), Text: s.Text})
		}
		return out
	}
	return Output{Text: string(body)}
}

// QueryOf converts the arguments that a model gave to a tool with a schema to the query of the call. The query is the
// object itself. For a model that can only give a query, it is the string in the object's only field "query", unless
// the schema has that property.
func QueryOf(t Tool, arguments string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil || len(object) != 1 || object["query"] == nil {
		return arguments
	}
	own, ok := t.(*ownTool)
	var inner string
	if !ok || own.schema.Properties["query"] != nil || json.Unmarshal(object["query"], &inner) != nil {
		return arguments
	}
	return inner
}

// Verbatim reports whether every character of a tool's query counts, as in a program, an address or an object.
func (s Set) Verbatim(name string) bool {
	if builtInCalled(name).verbatim {
		return true
	}
	t, ok := s.Lookup(name)
	return ok && SchemaOf(t) != nil
}
