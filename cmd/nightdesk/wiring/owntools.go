package wiring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/mcp"
)

// OwnTools holds the tools of tools.file.
type OwnTools struct {
	Servers []*OwnServer
	mu      sync.Mutex
	told    map[string]bool // problems already logged
}

// OwnServer is an MCP server of tools.file.
type OwnServer struct {
	*mcp.Server
	config.MCPServer
}

// NewOwnTools creates the tools of tools.file. It does not start any server. The caller closes the result.
func NewOwnTools(cfg config.Config) (*OwnTools, error) {
	own := &OwnTools{told: map[string]bool{}}
	for _, s := range cfg.Tools.MCP {
		if len(s.Missing) > 0 {
			return nil, view.Usage(fmt.Errorf("tools.file %s: mcpServers.%s needs %s in the environment", cfg.Tools.File,
				s.Name, strings.Join(s.Missing, ", ")))
		}
		allow := make([]mcp.Allowed, len(s.Allow))
		for i, tool := range s.Allow {
			allow[i] = mcp.Allowed{Tool: tool, Name: s.ToolNames[i]}
		}
		own.Servers = append(own.Servers, &OwnServer{mcp.New(mcp.Settings{Name: s.Name, Command: s.Command,
			Env: environmentOf(s.Remote), URL: s.URL.Reveal(), Header: headerOf(s.Remote), Allow: allow, Timeout: s.Timeout,
			Secrets: secretsOf(s.Remote)}), s})
	}
	return own, nil
}

// environmentOf returns the environment variables of a program as NAME=value, sorted by name.
func environmentOf(r config.Remote) []string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		env = append(env, name+"="+r.Env[name].Reveal())
	}
	return env
}

func headerOf(r config.Remote) http.Header {
	header := http.Header{}
	for name, value := range r.Headers {
		header.Set(name, value.Reveal())
	}
	return header
}

// secretsOf returns the secrets that must not appear in a tool's output, longest first.
func secretsOf(r config.Remote) []string {
	var out []string
	for _, secret := range r.Hidden {
		out = append(out, secret.Reveal())
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) }) // a longer secret may contain a shorter one
	return out
}

// Set returns the tools with the given names. It starts servers as needed. Unusable servers and missing tools are
// skipped and logged once.
func (o *OwnTools) Set(ctx context.Context, names []string) tools.Set {
	var set tools.Set
	for _, s := range o.Servers {
		if !slices.ContainsFunc(s.ToolNames, func(name string) bool { return slices.Contains(names, name) }) {
			continue
		}
		offered, problems, err := s.Tools(ctx)
		if err != nil {
			problems = []string{err.Error()}
		}
		for _, p := range problems {
			o.tell(ctx, p)
		}
		set = append(set, offered.Enabled(names)...)
	}
	return set
}

func (o *OwnTools) tell(ctx context.Context, problem string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() == nil && !o.told[problem] {
		o.told[problem] = true
		zerolog.Ctx(ctx).Error().Str("tool", "own").Msg(problem)
	}
}

// Close stops the servers.
func (o *OwnTools) Close() error {
	var errs []error
	for _, s := range o.Servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
