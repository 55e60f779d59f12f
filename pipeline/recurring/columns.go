package recurring

import (
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// Columns returns the header row of the table whose row begins at start, which may be that row itself. It returns "" if
// the table has only one row or its first row has values.
func Columns(s string, start int) string {
	row := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "|") }
	from := strings.LastIndexByte(s[:start], '\n') + 1
	for from > 0 {
		before := strings.LastIndexByte(s[:from-1], '\n') + 1
		if !row(s[before : from-1]) {
			break
		}
		from = before
	}
	head, rest, _ := strings.Cut(s[from:], "\n")
	second, _, _ := strings.Cut(rest, "\n")
	if names := cells(head); !row(head) || !row(second) || slices.ContainsFunc(names[1:], hasValue) {
		return ""
	}
	return strings.TrimSpace(head)
}

// hasValue reports whether a cell is a figure, and not a date or a number in a name. "Readmitted within 30 days (%)" is
// a column name, and four digits alone are a year.
func hasValue(cell string) bool {
	if len(cell) == 4 && strings.Trim(cell, "0123456789") == "" {
		return false
	}
	words, figures := parts(cell)
	return len(words) == 0 && slices.ContainsFunc(figures, func(q quantity.Quantity) bool {
		return q.Kind != quantity.Date && q.Kind != quantity.Label
	})
}

// cells returns the cells of a table row.
func cells(row string) []string {
	list := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i, cell := range list {
		list[i] = strings.TrimSpace(cell)
	}
	return list
}
