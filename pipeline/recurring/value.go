package recurring

import (
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/text"
)

// Kinds of changes.
const (
	ChangedValue = "value" // different figure
	ChangedDate  = "date"  // different date
	ChangedWords = "words" // different words with the same figures
)

// maxValue is the maximum length of a difference that is shown by itself, in bytes.
const maxValue = 60

// Differing returns the kind of change between a sentence or row and its replacement, and the two values or phrases as
// written. Both are empty if one is too long.
func Differing(old, now string) (kind, before, after string) {
	if strings.HasPrefix(old, "|") && strings.HasPrefix(now, "|") {
		one, two := cells(old), cells(now)
		for i := range min(len(one), len(two)) {
			if !sameCell(one[i], two[i]) {
				return kindOf(one[i], two[i]), one[i], two[i]
			}
		}
	}
	kind = kindOf(old, now)
	if before, after = figure(old, now); before == "" {
		before, after = middle(old, now)
	}
	if len(before) > maxValue || len(after) > maxValue {
		before, after = "", ""
	}
	return kind, before, after
}

// kindOf returns the kind of a change, based on the first figure that differs.
func kindOf(old, now string) string {
	_, a := parts(old)
	_, b := parts(now)
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && equal(a[i], b[i]) {
			continue
		}
		if i < len(b) && b[i].Kind == quantity.Date || i >= len(b) && a[i].Kind == quantity.Date {
			return ChangedDate
		}
		return ChangedValue
	}
	return ChangedWords
}

// middle returns the text between the common first and last words of two texts, with whole figures.
func middle(old, now string) (string, string) {
	one, two := fields(old), fields(now)
	equalWord := func(a, b stretch) bool {
		return slices.Equal(text.Words(old[a.start:a.end]), text.Words(now[b.start:b.end]))
	}
	head, tail := 0, 0
	for head < min(len(one), len(two)) && equalWord(one[head], two[head]) {
		head++
	}
	for tail < min(len(one), len(two))-head && equalWord(one[len(one)-1-tail], two[len(two)-1-tail]) {
		tail++
	}
	if head+tail == min(len(one), len(two)) { // one of them would be empty: include the adjacent words
		if head > 0 {
			head--
		}
		if tail > 0 {
			tail--
		}
	}
	return whole(old, one[head:len(one)-tail]), whole(now, two[head:len(two)-tail])
}

// stretch is a byte range of a text.
type stretch struct{ start, end int }

// fields returns the positions of the words of a text.
func fields(s string) (list []stretch) {
	at := 0
	for _, f := range strings.Fields(s) {
		at += strings.Index(s[at:], f)
		list = append(list, stretch{at, at + len(f)})
		at += len(f)
	}
	return list
}

// whole returns the text of the words, extended to whole figures.
func whole(s string, words []stretch) string {
	if len(words) == 0 {
		return ""
	}
	start, end := words[0].start, words[len(words)-1].end
	for _, q := range quantity.Parse(s) {
		if q.Start < end && start < q.End {
			start, end = min(start, q.Start), max(end, q.End)
		}
	}
	return strings.Trim(strings.Join(strings.Fields(s[start:end]), " "), ".,;: ")
}

// figure returns the first pair of different figures at the same position with equal kind and unit, or two empty
// strings.
func figure(old, now string) (string, string) {
	_, a := parts(old)
	_, b := parts(now)
	if len(a) != len(b) {
		return "", ""
	}
	for i := range a {
		if a[i].Kind == b[i].Kind && a[i].Unit == b[i].Unit && !equal(a[i], b[i]) {
			return old[a[i].Start:a[i].End], now[b[i].Start:b[i].End]
		}
	}
	return "", ""
}

// rowLine renders a table row as a line, with column names if known. Other text is returned unchanged.
func rowLine(row, columns string) string {
	if !strings.HasPrefix(strings.TrimSpace(row), "|") {
		return row
	}
	all, names := cells(row), cells(columns)
	var shown []string
	for i, cell := range all {
		switch {
		case cell == "":
		case i > 0 && len(names) == len(all) && names[i] != "":
			shown = append(shown, names[i]+": "+cell)
		default:
			shown = append(shown, cell)
		}
	}
	return strings.Join(shown, " · ")
}

// differingCells compares two rows with the same name and the same named columns. It returns what their values describe
// and the values that differ; what is "" for other rows.
func differingCells(old, now Said) (what, kind, before, after string) {
	one, two := cells(old.Quote), cells(now.Quote)
	names, same := cells(now.columns), sameCell(old.columns, now.columns)
	fit := now.columns != "" && same && len(one) == len(two) && len(two) == len(names)
	if !fit || one[0] == "" || !sameCell(one[0], two[0]) {
		return "", "", "", ""
	}
	var differ []int
	for i := range two {
		if !sameCell(one[i], two[i]) {
			differ = append(differ, i)
		}
	}
	switch len(differ) {
	case 0:
		return "", "", "", ""
	case 1:
		i := differ[0]
		return strings.TrimSuffix(two[0]+", "+names[i], ", "), kindOf(one[i], two[i]), one[i], two[i]
	}
	var was, is []string
	for _, i := range differ {
		was, is = append(was, names[i]+": "+one[i]), append(is, names[i]+": "+two[i])
	}
	return two[0], kindOf(one[differ[0]], two[differ[0]]), strings.Join(was, ", "), strings.Join(is, ", ")
}

// date formats a date as YYYY-MM-DD.
func date(w quantity.When) string { return fmt.Sprintf("%04d-%02d-%02d", w.Year, w.Month, w.Day) }

// months returns the number of months since the year 0, or 0 for an invalid date.
func months(day string) int {
	var year, month int
	_, _ = fmt.Sscanf(day, "%d-%d", &year, &month) // unreadable parts stay 0
	return 12*year + month
}
