package researching

import (
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/tools"
)

// The tools whose queries the loop treats in a way of their own.
const (
	ragHybrid   = "rag_hybrid"
	ragNaive    = "rag_naive"
	queryItem   = "query_item"
	webSearch   = "web_search"
	paperSearch = "paper_search"
	openPage    = "open_page"
	runCode     = "run_code"
)

// retrieval reports whether the tool searches the knowledge base in natural language.
func retrieval(tool string) bool { return tool == ragHybrid || tool == ragNaive }

// verbatim reports whether every sign of the tool's query counts: a program, an address.
func verbatim(tool string) bool { return tool == runCode || tool == openPage }

// toolName reports whether s can be the name of a tool: lower-case words joined by underscores.
func toolName(s string) bool {
	return strings.Contains(s, "_") && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// meant returns the one enabled tool that a name can mean: the tool of that name, else the one that shares most words
// with it. A model adds words to a name (functions.web_search, web_search<|channel|>commentary), leaves some out
// (web), or writes them in another order (search_web). So all words of the tool must be in the name or the other way
// round, and at least half of the name's words must be the tool's. It returns false when no tool fits, or two fit
// equally well.
func meant(name string, enabled tools.Set) (tool string, ok bool) {
	if _, ok := enabled.Lookup(name); ok {
		return name, true
	}
	best := 0.0
	for _, t := range enabled {
		joined := strings.ReplaceAll(t.Name(), "_", "") // websearch, WebSearch
		is, said := nameWords(t.Name()), nameWords(strings.ReplaceAll(strings.ToLower(name), joined, t.Name()))
		common := 0
		for _, word := range is {
			if slices.Contains(said, word) {
				common++
			}
		}
		if common < len(is) && common < len(said) || 2*common < len(said) {
			continue
		}
		switch like := 2 * float64(common) / float64(len(is)+len(said)); {
		case like > best:
			best, tool = like, t.Name()
		case like == best:
			tool = ""
		}
	}
	return tool, tool != ""
}

// nameWords returns the distinct words of a name.
func nameWords(name string) []string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(words)
	return slices.Compact(words)
}

// searchTool returns the first enabled tool that takes a query in natural language.
func searchTool(enabled tools.Set) (string, bool) {
	return firstOf(enabled, ragHybrid, ragNaive, webSearch, paperSearch)
}

func firstOf(enabled tools.Set, names ...string) (string, bool) {
	for _, name := range names {
		if _, ok := enabled.Lookup(name); ok {
			return name, true
		}
	}
	return "", false
}
