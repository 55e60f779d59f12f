package tools

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// Key returns the canonical form of a call, which is the same for equal calls. For searches, it is the words in any
// order and case, with the range of years for paper_search. For open_page, it is the address without the parts that do
// not change the page; for run_code, it is the exact program. A query without content yields the empty string. Never
// fails.
func Key(tool, query string) string {
	query = strings.TrimSpace(query)
	form := topicqueue.CanonicalQuery(query)
	known := builtInCalled(tool)
	switch {
	case known.form != nil:
		form = known.form(query)
	case object(query) != "": // tool with a schema: the order of keys does not matter
		form = object(query)
	case known.verbatim, topicqueue.IsPlace(query):
		// a place is not identified by its words: a section can have the same name as its document
		form = query
	default:
		if without := excluded(query); form != "" && without != "" {
			form += " -" + without
		}
	}
	if form == "" {
		return ""
	}
	return tool + "\x00" + form
}

// addressForm returns the canonical form of a query of open_page.
func addressForm(query string) string {
	if address, ok := pageAddress(query); ok {
		return pageKey(address)
	}
	return query
}

// object returns the canonical form of a query that is a JSON object, or "" for any other query.
func object(query string) string {
	var fields map[string]any
	if !strings.HasPrefix(query, "{") || json.Unmarshal([]byte(query), &fields) != nil {
		return ""
	}
	form, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	return string(form)
}

// excluded returns the canonical form of the words that a query excludes, as in "jaguar -car".
func excluded(query string) string {
	var words []string
	for _, field := range strings.Fields(query) {
		word, minus := strings.CutPrefix(field, "-")
		if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, `"`)); minus &&
			(unicode.IsLetter(r) || unicode.IsDigit(r)) {
			words = append(words, word)
		}
	}
	return topicqueue.CanonicalQuery(strings.Join(words, " "))
}

// pageKey returns the canonical form of an address, see fetch.CleanAddress. An invalid address is returned unchanged.
func pageKey(address string) string {
	if _, key, ok := fetch.CleanAddress(address); ok {
		return key
	}
	return address
}
