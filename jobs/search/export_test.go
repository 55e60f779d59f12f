package search

import "strings"

// Snippets returns the excerpts of a report in which a word was found that a result shows.
func Snippets(report, word string) []Snippet {
	return snippets(strings.ReplaceAll(signs.Replace(report), word, begins+word+ended), "", nil)
}
