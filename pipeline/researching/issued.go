package researching

import (
	"strings"

	"nightdesk/pipeline/tools"
)

// issued is the set of queries that the run has sent out.
type issued map[string]bool

// addLines reads what the queue keeps: one line per query, as issuedLine makes it.
func (s issued) addLines(lines []string) {
	for _, line := range lines {
		s.add(ofLine(line))
	}
}

func (s issued) hasLine(line string) bool { return s.has(ofLine(line)) }

// ofLine reads an issuedLine.
func ofLine(line string) (tool, query string) {
	if name, rest, ok := strings.Cut(line, ": "); ok && toolName(name) {
		return name, rest
	}
	return ragHybrid, line
}

func (s issued) has(tool, query string) bool { return s[issuedKey(tool, query)] }

func (s issued) add(tool, query string) { s[issuedKey(tool, query)] = true }

// issuedLine is the form in which an issued query is kept with the run and shown to the model. The searches of the
// knowledge base answer the same question from the same texts, so they share one form without a name; the same words
// sent to the web are another query.
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
