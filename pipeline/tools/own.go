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

// Own is a tool that the operator brings along: a command, an HTTP service, or a tool of an MCP server. A call's query
// is a JSON object that fits its schema. What it returns is hostile input like a page of the web.
type Own struct {
	Name        string
	Description string // of the operator or of a server: cut to maxDescription
	Arguments   json.RawMessage
	Timeout     time.Duration // of one call; 0: that of the runner alone
	Secrets     []string      // that it is given, and that no text of it may show; none is empty
	// Do makes a call with arguments that fit the schema. Its error is for the model: why there is no output.
	Do func(ctx context.Context, arguments json.RawMessage) (Output, error)
}

// Output is what an own tool returned.
type Output struct {
	Text    string              // as it came; HTML is read as a page
	Sources []topicqueue.Source // with an address of their own; empty: Text is the source
}

// Bounds of what own tools say of themselves, in bytes.
const (
	maxDescription = 1_000
	maxSchema      = 4_000
	maxOwnOutput   = 8 << 20 // of one answer, as it comes in
)

// NewOwn returns the tool. The error says what is wrong with the schema.
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
		return nil, fmt.Errorf("its schema is no JSON: %w", err)
	}
	object, ok := doc.(map[string]any)
	if !ok || object["type"] != "object" {
		return nil, errors.New(`its schema must describe an object: {"type": "object", "properties": {...}}`)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // no schema leads to a file or an address
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

// SchemaOf returns the JSON schema of a tool whose query is an object; nil for one whose query is a text.
func SchemaOf(t Tool) json.RawMessage {
	if own, ok := t.(*ownTool); ok {
		return own.Arguments
	}
	return nil
}

// Name implements Tool.
func (t *ownTool) Name() string { return t.Own.Name }

// Description implements Tool. For models that are not told the schema otherwise, it stands there too.
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

// arguments reads a query: an object, perhaps in a fence, or a text for a tool that takes one text.
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

// onlyText returns the name of the argument that a plain text must be meant for: the only one that is required, else
// the only one there is.
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

// hidden takes secrets out of a text.
func (t *ownTool) hidden(text string) string {
	for _, secret := range t.Secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// result makes sources of what came back. Without an address of its own, a source's document is the stored answer,
// where a reader finds tool and arguments too.
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

// readable makes text of what came back: without secrets, a page without its markup, and at most MaxAnswer of it.
func (t *ownTool) readable(text string) string {
	text = strings.TrimSpace(t.hidden(topicqueue.Printable(text)))
	if len(text) > MaxAnswer { // before it is read: what is cut off costs nothing
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

// ReadOutput reads what a command or a service wrote: an object {"sources": [{"title", "url", "date", "text"}]}, or any
// other text as it is.
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

// QueryOf makes the query of a call from the arguments that a model gave to a tool with a schema: the object itself, or
// what a model that can only give a query has put into it.
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

// Verbatim reports whether every sign of a tool's query counts: of a program, an address, an object.
func (s Set) Verbatim(name string) bool {
	if name == "run_code" || name == "open_page" {
		return true
	}
	t, ok := s.Lookup(name)
	return ok && SchemaOf(t) != nil
}
