package document

import (
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/quantity"
)

// maxDateText is the maximum length of a text parsed as a date, in bytes.
const maxDateText = 240

// numericDate matches YYYY, YYYY-MM or YYYY-MM-DD, also with slashes, optionally followed by a time.
var numericDate = regexp.MustCompile(`^(\d{4})(?:[-/](\d{2})(?:[-/](\d{2})(?:[T ].*)?)?)?$`)

// ParseDate parses the value of a date field with the precision given: YYYY-MM-DD, YYYY-MM or YYYY. It supports ISO
// 8601, e-mail dates and the formats of package quantity. 3/4/2025 yields only the year. No date or several dates yield
// "".
func ParseDate(s string) string {
	if s = strings.TrimSpace(s); len(s) > maxDateText {
		return ""
	}
	if m := numericDate.FindStringSubmatch(s); m != nil {
		return written(m[1:])
	}
	if at, err := mail.ParseDate(s); err == nil {
		return at.Format(time.DateOnly)
	}
	day, _ := onlyDate(s)
	return day
}

// dateLine returns the date at the end of a line at the head of a document, if it stands alone or after a comma. bare
// reports whether at most a place or a weekday precedes it, as in "Stavik, 9 January 2025".
func dateLine(line string) (day string, bare bool) {
	day, at := onlyDate(line)
	before := line[:at[0]]
	if at[1] < len(line) || before != "" && !strings.Contains(before, ",") {
		return "", false
	}
	return day, day != "" && len(strings.Fields(before)) <= maxPlace
}

// maxPlace is the maximum number of words before a bare date.
const maxPlace = 3

// onlyDate returns the date in a line and its byte range, if the line contains exactly one.
func onlyDate(line string) (day string, at [2]int) {
	if len(line) > maxDateText {
		return "", at
	}
	found := datesIn(line)
	if low := strings.ToLower(line); !slices.ContainsFunc(found, hasMonth) && len(low) == len(line) { // "3 Mars 2024"
		if lower := datesIn(low); slices.ContainsFunc(lower, hasMonth) {
			found = lower
		}
	}
	if len(found) != 1 {
		return "", at
	}
	return dayOf(found[0].When), [2]int{found[0].Start, found[0].End}
}

// datesIn returns the dates in s that include a year.
func datesIn(s string) []quantity.Quantity {
	return slices.DeleteFunc(quantity.Parse(s), func(q quantity.Quantity) bool {
		return q.Kind != quantity.Date || q.When.Year == 0
	})
}

func hasMonth(q quantity.Quantity) bool { return q.When.Month != 0 }

// dayOf formats a date with its precision. It returns "" for quarters and invalid dates.
func dayOf(w quantity.When) string {
	day := time.Date(w.Year, time.Month(max(1, w.Month)), max(1, w.Day), 0, 0, 0, 0, time.UTC)
	switch {
	case w.Quarter != 0, day.Day() != max(1, w.Day): // such as 31 February
		return ""
	case w.Month == 0:
		return day.Format("2006")
	case w.Day == 0:
		return day.Format("2006-01")
	}
	return day.Format(time.DateOnly)
}

// written joins the parts of a date, or returns "" if the date does not exist.
func written(parts []string) string {
	day := parts[0]
	for _, p := range parts[1:] {
		if p != "" {
			day += "-" + p
		}
	}
	if _, err := time.Parse("2006-01-02"[:len(day)], day); err != nil {
		return ""
	}
	return day
}
