package topicqueue

import "strings"

// PlaceSeparator stands between a document's title and its headings where a place is written in one line:
// "Harbour Guide › Tides › Neap tides". What stands before the first heading stands under the title.
const PlaceSeparator = " › "

// IsPlace reports a query that names a place rather than words.
func IsPlace(query string) bool { return strings.Contains(query, PlaceSeparator) }
