package config

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// Strategies: the trade-off between breadth and depth of a run.
const (
	strategyExploratory = "exploratory" // broad: more sub-topics and discoveries, less time for each
	strategyBalanced    = "balanced"    // as in the preset
	strategyFocused     = "focused"     // deep: fewer sub-topics, more time for each
)

// strategy holds the changes that a strategy makes to a preset.
type strategy struct {
	subTopics, iterations, actions float64 // factors
	minScore                       float64 // for discovered topics
}

var strategies = map[string]strategy{
	strategyExploratory: {subTopics: 1.5, iterations: 0.75, actions: 1.5, minScore: 0.75},
	strategyFocused:     {subTopics: 0.6, iterations: 1.5, actions: 1, minScore: 0.92},
}

// useStrategy adjusts breadth and depth of a run, except for settings made by the user. c: with the preset's values.
func useStrategy(c Config, o *topicqueue.Options) {
	s, ok := strategies[c.Researching.Strategy]
	if !ok {
		return
	}
	o.Strategy = c.Researching.Strategy
	subTopics := "planning.decompose.initial_subtopics"
	if o.DecomposeMode == topicqueue.DecomposeAuto {
		subTopics = "planning.decompose.auto_max_subtopics"
	}
	if !c.Given(subTopics) {
		o.SubTopics = scaled(o.SubTopics, s.subTopics)
	}
	if !c.Given("researching.max_iterations") {
		o.MaxIterations = scaled(o.MaxIterations, s.iterations)
	}
	if !c.Given("researching.new_topic_min_score") {
		o.NewTopicMinScore = s.minScore
	}
	if !c.Given("researching.max_actions") && s.actions != 1 {
		o.MaxActions = scaled(c.Researching.MaxActions, s.actions)
	}
}

// scaled multiplies a limit. Increases are rounded up, decreases to the nearest integer but at least 1.
func scaled(n int, factor float64) int {
	x := float64(n) * factor
	if factor > 1 {
		return int(math.Ceil(x))
	}
	return max(1, int(math.Round(x)))
}

// source is a source type in researching.sources.
type source struct {
	name    string
	tools   []string
	needs   []string // the source is configured if one of these tools is enabled
	missing string   // advice if none is
}

var sourceKinds = []source{
	{"kb", []string{"rag_hybrid", "rag_naive", "query_item"}, []string{"rag_hybrid", "rag_naive", "query_item"},
		"no knowledge base is configured: name one with --kb or kb_name, and enable " +
			"researching.enable_rag_hybrid, enable_rag_naive or enable_query_item"},
	{"web", []string{"web_search", "open_page"}, []string{"web_search", "open_page"},
		"web search is not configured: set up a search engine, for example with SEARXNG_URL, or set " +
			"researching.enable_open_page to true"},
	{"papers", []string{"paper_search", "open_page"}, []string{"paper_search"},
		"paper search is disabled: set researching.enable_paper_search to true"},
	{"code", []string{"run_code"}, []string{"run_code"},
		"running programs is disabled: set researching.enable_run_code to true"},
	{ownTools, nil, nil, "no tools of your own are configured: list them in tools.file"},
}

// ownTools is the source type of the tools in tools.file.
const ownTools = "own"

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
		if !slices.ContainsFunc(sourceKinds, func(s source) bool { return s.name == name }) {
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
		if s.name == ownTools {
			s.tools, s.needs = c.Tools.Names(), c.Tools.Names()
		}
		allowed = append(allowed, s.tools...)
		if !slices.ContainsFunc(s.needs, func(tool string) bool { return slices.Contains(o.Tools, tool) }) {
			problems = append(problems, Problem{Key: "researching.sources", Value: s.name, Reason: s.missing})
		}
	}
	o.Tools = slices.DeleteFunc(o.Tools, func(tool string) bool { return !slices.Contains(allowed, tool) })
	return problems
}
