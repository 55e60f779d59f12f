// Package mcp provides the tools of Model Context Protocol servers. A server is a program that this process starts, or
// a service with streamable HTTP. Entry points: [New] and [Server.Tools].
//
// Only allowed tools are used. A server starts on first use, and restarts after it has ended. Its messages are limited
// in size and untrusted, like web pages. It gets no client capabilities: no files, no questions to a person, no use of
// the model.
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

// Settings configures a server. Either Command or URL is set.
type Settings struct {
	Name    string
	Command []string // program and arguments, no shell
	Env     []string // NAME=value, in addition to a few variables of this process
	URL     string
	Header  http.Header
	Allow   []Allowed     // tools that may be used
	Timeout time.Duration // limit for a call; 0 means that of the tool runner
	Secrets []string      // values in Env and Header to redact from all text
}

// Allowed is a tool that may be used.
type Allowed struct {
	Tool string // the server's name for it
	Name string // the models' name for it
}

// Server is an MCP server. Safe for concurrent use.
type Server struct {
	settings Settings
	mu       sync.Mutex // held while the server starts
	running  *running
	offered  []*sdk.Tool // tools of the server when last listed; nil: never listed
	failed   error       // reason of the last failed start
	tried    time.Time
}

// running is a session with a server.
type running struct {
	session *sdk.ClientSession
	ended   chan struct{} // closed when the session ends
	why     func() string // why it ended, if known
	close   func()
}

const (
	startTime  = 20 * time.Second // limit for a server to start and list its tools
	retryAfter = 30 * time.Second // pause after a failed start
	endTime    = 2 * time.Second  // limit for a program to exit on request
	maxMessage = 8 << 20          // maximum message size, in bytes
	maxTools   = 1000             // maximum number of tools to list
)

// New returns a server without starting it.
func New(s Settings) *Server { return &Server{settings: s} }

// Tools returns the allowed tools that the server offers. problems: messages about allowed tools that cannot be used.
// The error says why the server cannot be used at all; it is then not started again for a while.
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
		tool, err := newTool(s, a.Name, offered[at])
		if err != nil {
			problems = append(problems, fmt.Sprintf("MCP server %s: %v", s.settings.Name, err))
			continue
		}
		set = append(set, tool)
	}
	return set, problems, nil
}

// list returns the tools of the server. It queries the server once; calls to tools that were removed later fail.
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
			s.failed, s.tried = s.error("it declares no capabilities", err, r), time.Now()
			return nil, s.failed
		}
		if offered = append(offered, tool); len(offered) == maxTools {
			break
		}
	}
	s.offered = offered
	return offered, nil
}

// start returns the session with the server, starting the server if there is no session. The caller holds s.mu.
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
				// Redirects are not followed, so that requests go only to this service.
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
		end() // first, because the session waits for the program's output
		go func() { _ = session.Close() }()
		select {
		case <-r.ended:
		case <-time.After(endTime): // do not wait longer for an unresponsive service
		}
	})
	go func() {
		_ = session.Wait()
		close(r.ended)
	}()
	return r, nil
}

// error returns an error about the server, with secrets redacted.
func (s *Server) error(what string, err error, r *running) error {
	text := topicqueue.Clip(topicqueue.OneLine(err.Error()), 300)
	if u := new(url.Error); errors.As(err, &u) { // it contains the whole address
		text = topicqueue.OneLine(u.Err.Error())
	}
	if why := r.why(); why != "" {
		text += "; it said: " + why
	}
	return fmt.Errorf("MCP server %s: %s: %s", s.settings.Name, what, s.hidden(text))
}

// hidden returns text with the secrets redacted.
func (s *Server) hidden(text string) string {
	for _, secret := range s.settings.Secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// call calls a tool of the server.
func (s *Server) call(ctx context.Context, tool string, arguments json.RawMessage) (*sdk.CallToolResult, error) {
	s.mu.Lock()
	r, err := s.start(ctx)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	result, err := r.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		if answered := new(jsonrpc.Error); errors.As(err, &answered) && !errors.Is(err, sdk.ErrConnectionClosed) {
			return nil, s.error("the call failed", err, r)
		}
		r.close() // it ended, hangs, or sends unreadable messages; the next call restarts it
		return nil, s.error("the call got no response", err, r)
	}
	return result, nil
}

// Close stops the server. Call it once, after the last call.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		s.running.close()
		s.running = nil
	}
	return nil
}
