package config

import (
	"fmt"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// Source types in researching.sources.
const (
	sourceKB     = "kb"
	sourceWeb    = "web"
	sourcePapers = "papers"
	sourceCode   = "code"
	sourceOwn    = "own" // the tools in tools.file
)

// sourceKinds lists all source types, each with advice for a run that has no tool for it.
var sourceKinds = []struct{ name, missing string }{
	{sourceKB, "no knowledge base is configured: name one with --kb or kb_name, and enable " +
		"researching.enable_rag_hybrid, enable_rag_naive or enable_query_item"},
	{sourceWeb, "web search is not configured: set up a search engine, for example with SEARXNG_URL, or set " +
		"researching.enable_open_page to true"},
	{sourcePapers, "paper search is disabled: set researching.enable_paper_search to true"},
	{sourceCode, "running programs is disabled: set researching.enable_run_code to true"},
	{sourceOwn, "no tools of your own are configured: list them in tools.file"},
}

// builtInTool is a built-in tool with its switch, the setting researching.enable_NAME.
type builtInTool struct {
	name string
	// enabled is the switch. Nil: none, because a command adds the tool to the runs that need it.
	enabled *bool
	// kinds are the source types that allow the tool. An enabled tool makes the first of them available.
	kinds []string
	// ready reports whether the tool is set up. Nil: always.
	ready func(Config) bool
	// needsOthers means that the tool finds no source on its own. Runs have it only beside a tool that does.
	needsOthers bool
}

// builtInTools returns the built-in tools in the order shown to the model, with their switches in r. Package tools has
// a list with the same names.
func builtInTools(r *Researching) []builtInTool {
	return []builtInTool{
		{name: "rag_hybrid", enabled: &r.EnableRAGHybrid, kinds: []string{sourceKB}, ready: Config.hasDocuments},
		{name: "rag_naive", enabled: &r.EnableRAGNaive, kinds: []string{sourceKB}, ready: Config.hasDocuments},
		{name: "query_item", enabled: &r.EnableQueryItem, kinds: []string{sourceKB}, ready: Config.hasDocuments},
		{name: "web_search", enabled: &r.EnableWebSearch, kinds: []string{sourceWeb}, ready: Config.searchesWeb},
		{name: "paper_search", enabled: &r.EnablePaperSearch, kinds: []string{sourcePapers}},
		{name: "open_page", enabled: &r.EnableOpenPage, kinds: []string{sourceWeb, sourcePapers}},
		{name: "run_code", enabled: &r.EnableRunCode, kinds: []string{sourceCode}, needsOthers: true},
		{name: "report_evidence"},
	}
}

// BuiltInToolNames returns the names of the built-in tools.
func BuiltInToolNames() []string {
	var names []string
	for _, t := range builtInTools(new(Researching)) {
		names = append(names, t.name)
	}
	return names
}

// hasDocuments reports whether runs have documents to search.
func (c Config) hasDocuments() bool { return c.KBName != "" || c.Attached }

// tools returns the enabled tools in the order shown to the model. It is empty if none of them finds a source.
func (c Config) tools() []string {
	tools, last := []string{}, []string{}
	for _, t := range builtInTools(&c.Researching) {
		switch {
		case t.enabled == nil || !*t.enabled || t.ready != nil && !t.ready(c):
		case t.needsOthers:
			last = append(last, t.name)
		default:
			tools = append(tools, t.name)
		}
	}
	tools = append(tools, c.Tools.Names()...)
	if len(tools) > 0 {
		tools = append(tools, last...)
	}
	return tools
}

// toolsFor returns the tools that a source type allows, and those of them that make it available if enabled.
func (c Config) toolsFor(kind string) (allowed, providing []string) {
	if kind == sourceOwn {
		return c.Tools.Names(), c.Tools.Names()
	}
	for _, t := range builtInTools(&c.Researching) {
		i := slices.Index(t.kinds, kind)
		if i >= 0 {
			allowed = append(allowed, t.name)
		}
		if i == 0 {
			providing = append(providing, t.name)
		}
	}
	return allowed, providing
}

// sourceNames returns the names in a list such as "kb, web", in lower case and without duplicates.
func sourceNames(list string) []string {
	var names []string
	for _, name := range strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

const sourcesAllowed = "some of kb, web, papers, code, own with commas between them; empty: all that are configured"

func checkSources(list string) error {
	for _, name := range sourceNames(list) {
		if !slices.ContainsFunc(sourceKinds, func(s struct{ name, missing string }) bool { return s.name == name }) {
			return fmt.Errorf("%q is not a kind of source; use %s", clip(name), sourcesAllowed)
		}
	}
	return nil
}

// limitSources keeps only the tools of the sources in researching.sources. A source that is not configured is a
// problem, because ignoring it would produce a different report than requested.
func limitSources(c Config, o *topicqueue.Options) Problems {
	names := sourceNames(c.Researching.Sources)
	if len(names) == 0 {
		return nil
	}
	var problems Problems
	var allowed []string
	for _, s := range sourceKinds {
		if !slices.Contains(names, s.name) {
			continue
		}
		tools, providing := c.toolsFor(s.name)
		allowed = append(allowed, tools...)
		if !slices.ContainsFunc(providing, func(tool string) bool { return slices.Contains(o.Tools, tool) }) {
			problems = append(problems, Problem{Key: "researching.sources", Value: s.name, Reason: s.missing})
		}
	}
	o.Tools = slices.DeleteFunc(o.Tools, func(tool string) bool { return !slices.Contains(allowed, tool) })
	return problems
}
