// Package tools contains the tools that a topic block can call, one file per tool, all behind the interface Tool.
//
// A tool returns text and the sources that support it. It never judges a source; the note does.
package tools

import (
	"context"
	"slices"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// Call is one call of a tool.
type Call struct {
	ToolID string // block, iteration and ordinal, such as block_3/2.1
	Query  string // in the tool's own query format
	// Known is the version of the page that the caller already has (open_page only). If the page still has this
	// version, the result is Unchanged.
	Known fetch.Version
}

// Result is the result of a tool call.
type Result struct {
	Text    string              `json:"-"` // the whole answer, for storage; UTF-8
	Sources []topicqueue.Source // with Text, in order of relevance; empty when nothing was found
	// Named are sources without text in the answer: results without an excerpt, and results beyond the limit.
	Named   []topicqueue.Source `json:",omitempty"`
	Figures []Figure            `json:"-"` // pictures that the call made; Text names them by path
	// Pictures are the pictures on the page of the only source, not yet fetched.
	Pictures []Picture `json:",omitempty"`
	Failed   bool      // the call failed; Text says why in words that the model can react to
	Final    bool      // the failure is permanent, such as a page that does not exist
	Gone     bool      // the page does not exist (any more)
	// Unchanged means that the caller has the current version of the page, so it was not sent again.
	Unchanged bool
}

// Tool is one capability of a block. Implementations are safe for concurrent use.
type Tool interface {
	Name() string
	Description() string // for the model
	// Call returns an error only if the run must stop: cancellation, budget, a bug. A search without results is a
	// Result without sources; a refusal by a server is a Result with Failed set.
	Call(ctx context.Context, call Call) (Result, error)
}

// Set is the tools of one run, in the order in which a model sees them.
type Set []Tool

// Lookup returns the tool of this name, or false if the set has none.
func (s Set) Lookup(name string) (Tool, bool) {
	for _, t := range s {
		if t.Name() == name {
			return t, true
		}
	}
	return nil, false
}

// Names returns the names of the tools, in order.
func (s Set) Names() []string {
	names := make([]string, len(s))
	for i, t := range s {
		names[i] = t.Name()
	}
	return names
}

// Enabled returns the tools of the set that a run may call, in the order of its options. Tools that the options do not
// name are never called, whatever a model asks for.
func (s Set) Enabled(names []string) Set {
	enabled := make(Set, 0, len(names))
	for _, name := range names {
		if t, ok := s.Lookup(name); ok {
			if _, twice := enabled.Lookup(name); !twice {
				enabled = append(enabled, t)
			}
		}
	}
	return enabled
}

// Elsewhere returns the tools that search something else than the documents of a run, or nothing.
func (s Set) Elsewhere() Set {
	return slices.DeleteFunc(slices.Clone(s), func(t Tool) bool {
		return slices.Contains([]string{NameRAGHybrid, NameRAGNaive, NameQueryItem}, t.Name())
	})
}

// Searches reports whether a tool of the set finds sources: any tool but run_code.
func (s Set) Searches() bool {
	return slices.ContainsFunc(s, func(t Tool) bool { return t.Name() != NameRunCode })
}

// Retrieval returns the name of the best knowledge base search in the set, or false if the set has none.
func (s Set) Retrieval() (string, bool) {
	for _, name := range []string{NameRAGHybrid, NameRAGNaive} {
		if _, ok := s.Lookup(name); ok {
			return name, true
		}
	}
	return "", false
}
