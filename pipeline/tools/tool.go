// Package tools holds what a topic block can call: one file per tool, all behind Tool.
//
// A tool returns a text and the sources it stands on. It never decides what a source is worth: that is the note's work.
package tools

import (
	"context"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// Call is one call of a tool.
type Call struct {
	ToolID string // block_3/2.1: block, iteration, ordinal
	Query  string // in the tool's own query format
	// Known is the version of the page that the caller has, of open_page: when it is still that, the result is
	// Unchanged.
	Known fetch.Version
}

// Result is what a tool returned.
type Result struct {
	Text    string              `json:"-"` // the whole answer, for storage; UTF-8
	Sources []topicqueue.Source // with Text, in order of relevance; empty when nothing was found
	// Named are sources of which the answer has no text: results without an excerpt, and those beyond the limit.
	Named   []topicqueue.Source `json:",omitempty"`
	Figures []Figure            `json:"-"` // pictures that the call made, named in Text by their paths
	// Pictures are those that the page of the only source shows, none of which is fetched yet.
	Pictures []Picture `json:",omitempty"`
	Failed   bool      // the call did not work; Text says why in words that the model can react to
	Final    bool      // of a failure: asking again would come to the same, such as a page that does not exist
	Gone     bool      // of a failure: there is no such page (any more)
	// Unchanged: the page is the version that the caller has, and has not been sent again.
	Unchanged bool
}

// Tool is one ability of a block. Implementations are safe for concurrent use.
type Tool interface {
	Name() string
	Description() string // what the model reads
	// Call returns an error only for what must stop the run: cancellation, budget, a bug. A search that finds nothing
	// is a Result without sources; a server that refuses is a Result with Failed set.
	Call(ctx context.Context, call Call) (Result, error)
}

// Set is the tools of one run, in the order in which they are shown to a model.
type Set []Tool

// Lookup returns the tool of this name, and false when the set has none.
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

// Enabled returns the tools of the set that a run may call, in the order in which its options name them. What the
// options do not name is not called, whatever a model asks for.
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

// Retrieval returns the name of the best search of the knowledge base in the set, and false when it has none.
func (s Set) Retrieval() (string, bool) {
	for _, name := range []string{"rag_hybrid", "rag_naive"} {
		if _, ok := s.Lookup(name); ok {
			return name, true
		}
	}
	return "", false
}
