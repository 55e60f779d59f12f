package mcp

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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Size limits for tools, in bytes.
const (
	maxDescription = 1_000
	maxSchema      = 4_000
)

// tool is a tool of a server. A call's query is a JSON object that fits the schema. The output is untrusted, like a web
// page.
type tool struct {
	server  *Server
	name    string // the models' name for it
	offered *sdk.Tool
	raw     json.RawMessage // the schema
	schema  *jsonschema.Schema
}

// newTool returns an offered tool under the models' name for it. The error says what is wrong with its schema.
func newTool(s *Server, name string, offered *sdk.Tool) (tools.Tool, error) {
	raw, err := json.Marshal(offered.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", name, err)
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("tool %s: its schema has %d bytes, at most %d are shown to a model", name, len(raw), maxSchema)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if object, ok := doc.(map[string]any); err != nil || !ok || object["type"] != "object" {
		return nil, fmt.Errorf(`tool %s: its schema must describe an object: {"type": "object", "properties": {...}}`, name)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema cannot load files or addresses
	schema, err := (*jsonschema.Schema)(nil), c.AddResource("arguments.json", doc)
	if err == nil {
		schema, err = c.Compile("arguments.json")
	}
	if err != nil {
		return nil, fmt.Errorf("tool %s: its schema: %w", name, err)
	}
	return &tool{s, name, offered, raw, schema}, nil
}

// Name implements tools.Tool.
func (t *tool) Name() string { return t.name }

// Schema implements tools.Structured.
func (t *tool) Schema() json.RawMessage { return t.raw }

// Description implements tools.Tool. It includes the schema.
func (t *tool) Description() string {
	about := topicqueue.Clip(topicqueue.OneLine(t.offered.Description), maxDescription)
	return strings.TrimSpace(about + " Its query is a JSON object with this schema: " + string(t.raw))
}

// Call implements tools.Tool.
func (t *tool) Call(ctx context.Context, call tools.Call) (tools.Result, error) {
	arguments, problem := t.arguments(call.Query)
	if problem != "" {
		return tools.Result{Failed: true, Text: fmt.Sprintf("%s was not called: %s", t.name, problem)}, nil
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if t.server.settings.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, t.server.settings.Timeout)
	}
	defer cancel()
	result, err := t.server.call(limited, t.offered.Name, arguments)
	switch {
	case ctx.Err() != nil:
		return tools.Result{}, context.Cause(ctx)
	case limited.Err() != nil:
		return tools.Result{Failed: true,
			Text: fmt.Sprintf("%s did not answer within %s.", t.name, t.server.settings.Timeout)}, nil
	}
	found, text := []topicqueue.Source(nil), ""
	if err == nil {
		if found, text = content(result); result.IsError {
			err = errors.New(text)
		}
	}
	if err != nil {
		return tools.Result{Failed: true, Text: t.name + ": " + topicqueue.Clip(topicqueue.OneLine(
			t.server.hidden(err.Error())), maxDescription)}, nil
	}
	return t.result(arguments, found, text), nil
}

// arguments parses a query: an object, optionally in a code fence, or plain text for a tool that takes one text.
func (t *tool) arguments(query string) (arguments json.RawMessage, problem string) {
	query = strings.TrimSpace(tools.Unfenced(query))
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(query))
	if _, ok := doc.(map[string]any); err != nil || !ok {
		name := t.onlyText()
		if name == "" || query == "" || strings.ContainsAny(query[:1], "{[") {
			return nil, "its query must be a JSON object with this schema: " + string(t.raw)
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
func (t *tool) onlyText() string {
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

// result converts the output of a call to sources. A source without its own address gets the stored answer as its
// document, in which a reader also finds tool and arguments.
func (t *tool) result(arguments json.RawMessage, found []topicqueue.Source, text string) tools.Result {
	shown := topicqueue.Clip(topicqueue.OneLine(t.server.hidden(string(arguments))), 300)
	head := fmt.Sprintf("Result of %s %s\n", t.name, shown)
	now := time.Now().UTC()
	if len(found) == 0 {
		if text = t.readable(text); text == "" {
			return tools.Result{Text: t.name + " returned nothing for " + shown + "."}
		}
		head = "[1] " + head
		s := topicqueue.Source{Kind: topicqueue.SourceTool, Title: "Result of " + t.name, Section: []string{shown},
			RetrievedAt: now, Text: text, Hash: topicqueue.TextHash(text), Offset: len(head)}
		result := tools.Result{Text: head + text}
		s.Document = topicqueue.PagePath(topicqueue.TextHash(result.Text))
		result.Sources = []topicqueue.Source{s}
		return result
	}
	result := tools.Result{Text: head}
	for _, s := range found {
		s.Kind, s.RetrievedAt, s.Text = topicqueue.SourceTool, now, t.readable(s.Text)
		s.Title, s.URL = cmp.Or(topicqueue.OneLine(t.server.hidden(s.Title)), "Result of "+t.name), t.server.hidden(s.URL)
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

// readable returns at most tools.MaxAnswer bytes of text, without secrets, and without markup if it is an HTML page.
func (t *tool) readable(text string) string {
	text = strings.TrimSpace(t.server.hidden(topicqueue.Printable(text)))
	if len(text) > tools.MaxAnswer { // before parsing, so that the part cut off costs nothing
		text = strings.ToValidUTF8(text[:tools.MaxAnswer], "")
	}
	start := strings.ToLower(text[:min(len(text), 200)])
	if strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") || strings.HasPrefix(start,
		"<body") {
		page := extract.HTML(text)
		text = strings.TrimSpace(page.Title + "\n\n" + page.Text)
	}
	return text
}

// content reads a result: the texts are one source, and resources with an address are separate sources. A text may also
// be an object {"sources": [{"title", "url", "date", "text"}]}. Images and audio are ignored.
func content(result *sdk.CallToolResult) (found []topicqueue.Source, text string) {
	var texts []string
	for _, content := range result.Content {
		switch c := content.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ResourceLink:
			found = append(found, topicqueue.Source{Title: c.Title, URL: c.URI})
		case *sdk.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				found = append(found, topicqueue.Source{Title: c.Resource.URI, URL: c.Resource.URI, Text: c.Resource.Text})
			}
		}
	}
	if len(texts) == 0 && result.StructuredContent != nil {
		if text, err := json.Marshal(result.StructuredContent); err == nil {
			texts = append(texts, string(text))
		}
	}
	text = strings.TrimSpace(strings.Join(texts, "\n\n"))
	var listed struct {
		Sources []struct{ Title, URL, Date, Text string }
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &listed) == nil && len(listed.Sources) > 0 {
		for _, s := range listed.Sources {
			found = append(found, topicqueue.Source{Title: s.Title, URL: s.URL,
				Date: topicqueue.Clip(topicqueue.OneLine(s.Date), 10), Text: s.Text})
		}
	} else if len(found) > 0 && text != "" {
		found = append(found, topicqueue.Source{Text: text})
	}
	return found, text
}
