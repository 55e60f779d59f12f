package researching

import (
	"strings"

	"nightdesk/pipeline/tools"
)

// Tools that the loop treats specially.
const (
	ragHybrid   = tools.NameRAGHybrid
	ragNaive    = tools.NameRAGNaive
	queryItem   = tools.NameQueryItem
	webSearch   = tools.NameWebSearch
	paperSearch = tools.NamePaperSearch
	openPage    = tools.NameOpenPage
	runCode     = tools.NameRunCode
)

// retrieval reports whether the tool searches the knowledge base in natural language.
func retrieval(tool string) bool { return tool == ragHybrid || tool == ragNaive }

// toolName reports whether s has the form of a tool name: lower-case words joined by underscores.
func toolName(s string) bool {
	return strings.Contains(s, "_") && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
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
