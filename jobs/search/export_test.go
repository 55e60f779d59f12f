package search

import "nightdesk/pipeline/report"

// Snippets returns the excerpts of a report that a result shows.
func Snippets(markdown, query string) []Snippet {
	return snippets(report.Read(markdown).Lines(), nil, parse(query))
}
