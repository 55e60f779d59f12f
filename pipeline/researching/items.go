package researching

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// maxItems is the maximum number of look-ups of named items in a title or topic.
const maxItems = 2

var itemPatterns = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:theorem|lemma|proposition|corollary|definition|algorithm|equation|table|figure|fig\.|` +
		`listing|section|chapter|appendix)\s+\d+(?:\.\d+)*\b`),
	regexp.MustCompile(`§\s?\d+(?:\.\d+)*`),
	regexp.MustCompile(`\b[A-Za-z]\w+(?:(?:\.|::)[A-Za-z]\w+)+`), // sync.Mutex, std::vector
	regexp.MustCompile(`\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b`),        // max_wal_size
}

// namedItems finds names in a text that documents use too, such as "Theorem 3.1", "§ 4.2" or sync.Mutex.
func namedItems(text string) []string {
	var items []string
	for _, p := range itemPatterns {
		for _, item := range p.FindAllString(text, -1) {
			item = topicqueue.OneLine(item)
			partOf := func(other string) bool { return strings.Contains(strings.ToLower(other), strings.ToLower(item)) }
			if len(items) < maxItems && !slices.ContainsFunc(items, partOf) {
				items = append(items, item)
			}
		}
	}
	return items
}
