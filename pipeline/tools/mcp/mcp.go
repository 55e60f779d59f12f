// Package mcp makes tools of what servers of the Model Context Protocol offer: a program of which this process is the
// client, or a service by streamable HTTP. Entry points: [New] and [Server.Tools].
//
// Only tools that are allowed are used. A server is started when it is first needed, and again when it has ended. What
// it sends is bounded, and hostile like a page of the web; it is offered no abilities of this side: no files, no
// questions to a person, no use of the model.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Settings of a server. It has either a Command or a URL.
type Settings struct {
	Name    string
	Command []string // program and arguments, no shell
	Env     []string // NAME=value, beside what tools.Environment gives
	URL     string
	Header  http.Header
	Allow   []Allowed     // tools that may be used
	Timeout time.Duration // of a call; 0: that of the tool runner
	Secrets []string      // of Env and Header, that no text may show
}

// Allowed is a tool that may be used.
type Allowed struct {
	Tool string // as the server calls it
	Name string // as models do
}

// Server is one server. Safe for concurrent use.
type Server struct {
	settings Settings
	mu       sync.Mutex // while the server is started, others wait
	running  *running
	offered  []*sdk.Tool // by the server, when it was last asked; nil: never
	failed   error       // why it could not be started
	tried    time.Time
}

// running is a session with a server.
type running struct {
	session *sdk.ClientSession
	ended   chan struct{} // closed when the session is over
	why     func() string // it ended, as far as is known
	close   func()
}

const (
	startTime  = 20 * time.Second // for a server to start and to say what it offers
	retryAfter = 30 * time.Second // pause after a start that failed
	endTime    = 2 * time.Second  // for a program to end when it is told to
	maxMessage = 8 << 20          // bytes of one message of a server
	maxTools   = 1000             // that a server is asked for
)

// New returns a server, which is not started.
func New(s Settings) *Server { return &Server{settings: s} }

// Tools returns the allowed tools that the server offers. problems: what is allowed and cannot be used, for a person.
// The error says why the server cannot be used at all; it is not started again for a while.
func (s *Server) Tools(ctx context.Context) (set tools.Set, problems []string, err error) {
	offered, err := s.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range s.settings.Allow {
		at := slices.IndexFunc(offered, func(t *sdk.Tool) bool { return t.Name == a.Tool })
		if at < 0 {
			var names []string
			for _, t := range offered {
				names = append(names, t.Name)
			}
			problems = append(problems, fmt.Sprintf("MCP server %s has no tool %q; it has %s", s.settings.Name, a.Tool,
				topicqueue.Clip(topicqueue.OneLine(strings.Join(names, ", ")), 500)))
			continue
		}
		tool, err := s.tool(a.Name, offered[at])
		if err != nil {
			problems = append(problems, fmt.Sprintf("MCP server %s: %v", s.settings.Name, err))
			continue
		}
		set = append(set, tool)
	}
	return set, problems, nil
}

func (s *Server) tool(name string, t *sdk.Tool) (tools.Tool, error) {
	schema, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	return tools.NewOwn(tools.Own{Name: name, Description: t.Description, Arguments: schema,
		Timeout: s.settings.Timeout, Secrets: s.settings.Secrets,
		Do: func(ctx context.Context, arguments json.RawMessage) (tools.Output, error) {
			return s.call(ctx, t.Name, arguments)
		}})
}

// list returns what the server offers. It is asked once: calls of a tool that it no longer has fail.
func (s *Server) list(ctx context.Context) ([]*sdk.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offered != nil {
		return s.offered, nil
	}
	r, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	offered := []*sdk.Tool{}
	for tool, err := range r.session.Tools(ctx, nil) {
		if err != nil {
			r.close()
			s.failed, s.tried = s.error("it does not say what it offers", err, r), time.Now()
			return nil, s.failed
		}
		if offered = append(offered, tool); len(offered) == maxTools {
			break
		}
	}
	s.offered = offered
	return offered, nil
}

// start returns the session with the server, which it starts when there is none. s.mu is held.
func (s *Server) start(ctx context.Context) (*running, error) {
	if r := s.running; r != nil {
		select {
		case <-r.ended:
			r.close()
			s.running = nil
		default:
			return r, nil
		}
	}
	if s.failed != nil && time.Since(s.tried) < retryAfter {
		return nil, s.failed
	}
	r, err := s.connect(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.failed, s.tried = err, time.Now()
		}
		return nil, err
	}
	s.running, s.failed = r, nil
	return r, nil
}

func (s *Server) connect(ctx context.Context) (*running, error) {
	r := &running{ended: make(chan struct{}), why: func() string { return "" }, close: func() {}}
	var transport sdk.Transport
	if s.settings.URL != "" {
		transport = &sdk.StreamableClientTransport{Endpoint: s.settings.URL, DisableStandaloneSSE: true, MaxRetries: -1,
			MaxEventSize: maxMessage, HTTPClient: &http.Client{Transport: &headers{s.settings.Header,
				&http.Transport{ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: time.Minute}},
				// What is meant for this service goes nowhere else.
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	} else {
		p, err := begin(s.settings)
		if err != nil {
			return nil, fmt.Errorf("MCP server %s cannot be started: %w", s.settings.Name, err)
		}
		transport = &sdk.IOTransport{Reader: p.out, Writer: p.in, MaxLineLength: maxMessage}
		r.why, r.close = p.why, p.end
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "nightdesk", Version: "1"}, &sdk.ClientOptions{
		Logger: slog.New(slog.DiscardHandler), Capabilities: &sdk.ClientCapabilities{}})
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		r.close()
		return nil, s.error("it does not answer", err, r)
	}
	r.session = session
	end := r.close
	r.close = sync.OnceFunc(func() {
		end() // first: the session waits for what a program says
		go func() { _ = session.Close() }()
		select {
		case <-r.ended:
		case <-time.After(endTime): // a service that does not answer is left alone
		}
	})
	go func() {
		_ = session.Wait()
		close(r.ended)
	}()
	return r, nil
}

// error says what went wrong with the server, without what may be secret.
func (s *Server) error(what string, err error, r *running) error {
	text := topicqueue.Clip(topicqueue.OneLine(err.Error()), 300)
	if u := new(url.Error); errors.As(err, &u) { // it has the whole address
		text = topicqueue.OneLine(u.Err.Error())
	}
	if why := r.why(); why != "" {
		text += "; it said: " + why
	}
	for _, secret := range s.settings.Secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return fmt.Errorf("MCP server %s: %s: %s", s.settings.Name, what, text)
}

// call calls a tool of the server.
func (s *Server) call(ctx context.Context, tool string, arguments json.RawMessage) (tools.Output, error) {
	s.mu.Lock()
	r, err := s.start(ctx)
	s.mu.Unlock()
	if err != nil {
		return tools.Output{}, err
	}
	result, err := r.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		if answered := new(jsonrpc.Error); errors.As(err, &answered) && !errors.Is(err, sdk.ErrConnectionClosed) {
			return tools.Output{}, s.error("the call failed", err, r)
		}
		r.close() // it has ended, hangs, or sends what cannot be read: the next call starts it again
		return tools.Output{}, s.error("the call got no answer", err, r)
	}
	out := output(result)
	if result.IsError {
		return tools.Output{}, errors.New(topicqueue.Clip(topicqueue.OneLine(out.Text), 1000))
	}
	return out, nil
}

// output reads the content of a result: texts are one source, documents that have an address are sources of their own.
// Pictures and sounds are not read.
func output(result *sdk.CallToolResult) tools.Output {
	var out tools.Output
	var texts []string
	for _, content := range result.Content {
		switch c := content.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ResourceLink:
			out.Sources = append(out.Sources, topicqueue.Source{Title: c.Title, URL: c.URI})
		case *sdk.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				out.Sources = append(out.Sources, topicqueue.Source{Title: c.Resource.URI, URL: c.Resource.URI,
					Text: c.Resource.Text})
			}
		}
	}
	if len(texts) == 0 && result.StructuredContent != nil {
		if text, err := json.Marshal(result.StructuredContent); err == nil {
			texts = append(texts, string(text))
		}
	}
	out.Text = strings.Join(texts, "\n\n")
	if read := tools.ReadOutput([]byte(out.Text)); len(read.Sources) > 0 {
		out.Sources = append(out.Sources, read.Sources...)
	} else if len(out.Sources) > 0 && strings.TrimSpace(out.Text) != "" {
		out.Sources = append(out.Sources, topicqueue.Source{Text: out.Text})
	}
	return out
}

// Close ends the server. It may be called once, after the last call.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		s.running.close()
		s.running = nil
	}
	return nil
}
