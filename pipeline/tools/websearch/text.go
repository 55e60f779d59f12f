package websearch

import (
	"strings"

	"nightdesk/pipeline/knowledge/extract/webpage"
	"nightdesk/pipeline/text"
)

// Limits of texts, in bytes.
const (
	maxText  = 8 << 10 // text of one result
	maxShort = 200     // titles and names
)

// plain returns an excerpt without markup. The result has at most maxText bytes.
func plain(s string) string {
	s = webpage.Plain(text.Start(s, 16*maxText)) // the part to be cut off need not be cleaned
	if len(s) > maxText {
		s = strings.TrimSpace(text.Start(s, maxText-3)) + "..."
	}
	return s
}

// short returns s on one line, cut to maxShort bytes.
func short(s string) string {
	if s = strings.Join(strings.Fields(s), " "); len(s) > maxShort {
		return strings.TrimSpace(text.Start(s, maxShort-3)) + "..."
	}
	return s
}

// maxProposals is the maximum number of suggested queries.
const maxProposals = 5

// proposals cleans the queries that a provider suggests, and drops duplicates and the query itself.
func proposals(list []string, query string) []string {
	var out []string
	known := map[string]bool{strings.ToLower(clipQuery(query)): true}
	for _, s := range list {
		s = short(plain(s))
		if key := strings.ToLower(s); s != "" && !known[key] && len(out) < maxProposals {
			known[key] = true
			out = append(out, s)
		}
	}
	return out
}
