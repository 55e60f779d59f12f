package topicqueue

import "strings"

// PlaceSeparator separates a document's title and headings in a one-line location: "Harbour Guide › Tides › Neap
// tides". Text before the first heading is located under the title.
const PlaceSeparator = " › "

// IsPlace reports whether a query names a location in a document rather than words.
func IsPlace(query string) bool { return strings.Contains(query, PlaceSeparator) }
