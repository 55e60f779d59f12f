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
