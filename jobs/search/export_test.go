package search

// Snippets returns what a result shows of a report.
func Snippets(report, query string) []Snippet {
	return snippets(reportLines([]byte(report)), nil, parse(query))
}
