package topicqueue

import "strings"

// PlaceSeparator stands between a document's title and its headings where a place is written in one line.
const PlaceSeparator = " › "

// Place writes where a section stands in one line, in the form that query_item reads: "Harbour Guide › Tides › Neap tides".
// What stands before the first heading stands under the title: "Harbour Guide › Harbour Guide".
func Place(title string, section []string) string {
	if len(section) == 0 {
		section = []string{title}
	}
	line := title + PlaceSeparator + strings.Join(section, PlaceSeparator)
	return strings.Join(strings.Fields(line), " ")
}

// IsPlace reports a query that names a place rather than words.
func IsPlace(query string) bool { return strings.Contains(query, PlaceSeparator) }

// Within reports whether one place is the other or lies below it.
func Within(place, other string) bool {
	n := len(other)
	return strings.EqualFold(place, other) ||
		len(place) > n && strings.EqualFold(place[:n], other) && strings.HasPrefix(place[n:], PlaceSeparator)
}
