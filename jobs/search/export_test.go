package search

// Snippets returns the excerpts of a report that a result shows.
func Snippets(report, query string) []Snippet {
	return snippets(reportLines([]byte(report)), nil, parse(query))
}
