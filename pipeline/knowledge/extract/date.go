package extract

import (
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/quantity"
)

// maxDateText bounds what is read as a date, in bytes.
const maxDateText = 240

// numericDate matches a date in figures from the year down, as far as it goes, also with a time behind it.
var numericDate = regexp.MustCompile(`^(\d{4})(?:[-/](\d{2})(?:[-/](\d{2})(?:[T ].*)?)?)?$`)

// date returns the date that a field gives, as exact as it is given: YYYY-MM-DD, YYYY-MM or YYYY. It reads ISO 8601,
// the dates of e-mail, and what package quantity does. Of 3/4/2025 only the year is certain. "": no date, or several.
func date(s string) string {
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

// dateLine returns the date with which a line at the head of a document ends, behind a comma or alone. bare: nothing
// but a place or a day of the week is before it, as in "Stavik, 9 January 2025".
func dateLine(line string) (day string, bare bool) {
	day, at := onlyDate(line)
	before := line[:at[0]]
	if at[1] < len(line) || before != "" && !strings.Contains(before, ",") {
		return "", false
	}
	return day, day != "" && len(strings.Fields(before)) <= maxPlace
}

// maxPlace bounds what stands before a date that a line is about, in words.
const maxPlace = 3

// onlyDate returns the only date in a line and where it stands.
func onlyDate(line string) (day string, at [2]int) {
	if len(line) > maxDateText {
		return "", at
	}
	found := datesIn(line)
	if low := strings.ToLower(line); len(found) == 0 && len(low) == len(line) { // 3 Mars
		found = datesIn(low)
	}
	if len(found) != 1 || !found[0].To.Zero() {
		return "", at
	}
	return dayOf(found[0].When), [2]int{found[0].Start, found[0].End}
}

// datesIn returns what is a date with a year.
func datesIn(s string) []quantity.Quantity {
	return slices.DeleteFunc(quantity.Parse(s), func(q quantity.Quantity) bool {
		return q.Kind != quantity.Date || q.When.Year == 0
	})
}

// dayOf writes a date as exactly as it is said; "": it is a quarter, or there is no such day.
func dayOf(w quantity.When) string {
	day := time.Date(w.Year, time.Month(max(1, w.Month)), max(1, w.Day), 0, 0, 0, 0, time.UTC)
	switch {
	case w.Quarter != 0, day.Day() != max(1, w.Day): // 31 February
		return ""
	case w.Month == 0:
		return day.Format("2006")
	case w.Day == 0:
		return day.Format("2006-01")
	}
	return day.Format(time.DateOnly)
}

// written joins the parts of a date, "" when there is no such day.
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
