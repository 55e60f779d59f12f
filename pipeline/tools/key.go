package tools

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/tools/papers"
	"nightdesk/topicqueue"
)

// Key returns the form of a call by which equal calls are recognised: of searches their words in any order and case (of
// paper_search with the range of years), of
// open_page the address without what does not change the page, of run_code every sign. A query that asks nothing yields
// the empty string. Never fails.
func Key(tool, query string) string {
	query = strings.TrimSpace(query)
	form := topicqueue.CanonicalQuery(query)
	switch {
	case tool == "open_page":
		if form = query; form != "" {
			if address, ok := pageAddress(query); ok {
				form = pageKey(address)
			}
		}
	case object(query) != "": // of a tool with a schema: only the order of its keys does not matter
		form = object(query)
	case tool == "run_code", topicqueue.IsPlace(query):
		// a place is not known by its words: a section can be called like its document
		form = query
	case tool == "paper_search":
		form = papers.ParseQuery(query, 0).Key()
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

// object returns the canonical form of a query that is a JSON object; empty for any other.
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

// excluded returns the canonical form of the words that a query does not want: "jaguar -car".
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

// tracking are parameters of addresses that say where a reader came from and not what the page is.
var tracking = []string{"utm_", "gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "yclid", "twclid", "igshid",
	"mc_cid", "mc_eid", "_hsenc", "_hsmi", "vero_id", "oly_anon_id", "oly_enc_id"}

// pageKey returns the form of an address by which equal pages are recognised: host and path without scheme, default
// port, fragment, credentials, tracking parameters and trailing slash. An address that cannot be read stays as it is.
func pageKey(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return address
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	path := u.EscapedPath()
	if !strings.Contains(strings.ToLower(u.RawPath), "%2f") { // there, what is escaped means something else
		path = (&url.URL{Path: u.Path}).EscapedPath()
	}
	var query []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(strings.ToLower(part), "=")
		if part != "" && !slices.ContainsFunc(tracking, func(t string) bool {
			return name == t || t == "utm_" && strings.HasPrefix(name, t)
		}) {
			query = append(query, part)
		}
	}
	key := host + strings.TrimRight(path, "/")
	if len(query) > 0 {
		key += "?" + strings.Join(query, "&")
	}
	return key
}
