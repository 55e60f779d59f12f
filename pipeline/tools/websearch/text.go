package websearch

import (
	"html"
	"regexp"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Limits of texts, in bytes.
const (
	maxText  = 8 << 10 // text of one result
	maxShort = 200     // titles and names
)

var (
	// tags matches the elements in excerpts. Other words in angle brackets are text, such as Vec<T>.
	tags = regexp.MustCompile(`(?i)</?(?:strong|b|em|i|u|mark|span|br|p|div|a|sup|sub|small|wbr|font|` +
		`code|pre|h[1-6]|ul|ol|li|blockquote|cite|q|time|table|tr|td|th)(?:\s[^<>]*)?/?>`)
	// hiddenParts matches comments, scripts and styles, which have no text.
	hiddenParts = regexp.MustCompile(`(?is)<!--.*?-->|<(script|style)\b[^>]*>.*?</(script|style)\s*>`)
	// blocks matches elements that break lines.
	blocks   = regexp.MustCompile(`(?i)</?(?:br|p|div|h[1-6]|ul|ol|li|blockquote|tr|table)(?:\s[^<>]*)?/?>`)
	entities = regexp.MustCompile(`&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});`)
)

// plain converts an excerpt to plain text: HTML tags removed, entities decoded, white space folded, line breaks kept.
// The result has at most maxText bytes.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) > 16*maxText { // the part to be cut off need not be cleaned
		s = text.Start(s, 16*maxText)
	}
	s = hiddenParts.ReplaceAllString(s, " ")
	s = blocks.ReplaceAllString(s, "\n")
	s = tags.ReplaceAllString(s, "")
	s = entities.ReplaceAllStringFunc(s, html.UnescapeString)
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsSpace(r):
			return ' '
		case topicqueue.Hidden(r): // soft hyphens and similar would split words
			return -1
		}
		return r
	}, s)
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	s = strings.Join(lines, "\n")
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
