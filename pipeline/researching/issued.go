package researching

import (
	"strings"

	"nightdesk/pipeline/tools"
)

// issued is a set of queries that were sent.
type issued map[string]bool

// addLines adds stored lines in the form of issuedLine.
func (s issued) addLines(lines []string) {
	for _, line := range lines {
		s.add(ofLine(line))
	}
}

// ofLine parses an issuedLine.
func ofLine(line string) (tool, query string) {
	if name, rest, ok := strings.Cut(line, ": "); ok && toolName(name) {
		return name, rest
	}
	return ragHybrid, line
}

func (s issued) has(tool, query string) bool { return s[issuedKey(tool, query)] }

func (s issued) add(tool, query string) { s[issuedKey(tool, query)] = true }

// issuedLine is the form in which a query is stored with the run and shown to the model. Knowledge base searches share
// a form without a tool name, because they answer from the same texts. The same words sent to the web are a different
// query.
func issuedLine(tool, query string) string {
	if retrieval(tool) {
		return query
	}
	return tool + ": " + query
}

func issuedKey(tool, query string) string {
	key := tools.Key(tool, query)
	if retrieval(tool) {
		return strings.TrimPrefix(key, tool)
	}
	return key
}
