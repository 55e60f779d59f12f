package citation

import (
	"fmt"
	"regexp"
	"strings"

	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/markdown"
)

// How a citation was found in the registry. The levels of an address are those of package address.
const (
	MatchExact      = address.Exact
	MatchTruncation = address.Truncation
	MatchPrefix     = address.Prefix
	MatchChild      = address.Child
	MatchQuery      = address.Query
	MatchKey        = "key"   // a document key, whatever the page
	MatchTitle      = "title" // the title of one source
	MatchID         = "id"    // a citation id of the run
)

// Why a source's own address may not stand in a report.
const (
	detailShortened = "shortened_url"
	detailTruncated = "truncated_url"
	DetailUnsafe    = "unsafe_url"
)

// destKind classifies a link destination.
type destKind int

const (
	Harmless destKind = iota // within the report or beside it
	Web                      // to be found in the registry
	Unsafe                   // runs something, or is not a page
)

// Destination returns an address as a browser would parse it, and its kind.
func Destination(raw string) (string, destKind) {
	d := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("\x7f\u00ad\u200b\ufeff", r) {
			return -1 // browsers drop them within a scheme
		}
		return r
	}, address.DecodeEntities(address.DecodeEntities(raw)))
	d = strings.TrimSpace(d)
	switch s := Scheme(d); {
	case s == "http" || s == "https":
		return markdown.Plain(d), Web
	case s == "artifact": // a picture of the desk that wrote the report
		return d, Harmless
	case s != "" || strings.Contains(d, "://"):
		return d, Unsafe
	case len(d) > 1 && strings.IndexByte(`/\`, d[0]) >= 0 && strings.IndexByte(`/\`, d[1]) >= 0:
		return "https://" + strings.TrimLeft(d, `/\`), Web
	case strings.HasPrefix(strings.ToLower(d), "www."):
		return "https://" + d, Web
	}
	return d, Harmless
}

// Unfit returns the reason why a source's own address is not allowed in a report, or "".
func Unfit(raw string) string {
	if strings.Contains(raw, "…") || strings.HasSuffix(raw, "...") {
		return detailTruncated
	}
	a, ok := address.Parse(raw)
	switch {
	case !ok || a.IsIP():
		return DetailUnsafe
	case a.IsShortened():
		return detailShortened
	}
	return ""
}

// siteName is an address without its path.
var siteName = regexp.MustCompile(`^[^:]*://[^/?#]*`)

// SafeSpelling returns a source's address for use in Markdown, with characters escaped that would end it on a line or
// in parentheses.
func SafeSpelling(raw string) string {
	raw = strings.ToValidUTF8(strings.TrimSpace(address.DecodeEntities(raw)), "")
	host := len(siteName.FindString(raw))
	open := 0
	for i := 0; i < len(raw) && open >= 0; i++ {
		switch raw[i] {
		case '(':
			open++
		case ')':
			open--
		}
	}
	ends := AddressStops + "[]…\x7f" // characters that are escaped
	if open != 0 {
		ends += "()"
	}
	var b strings.Builder
	b.WriteString(raw[:host])
	for i, r := range raw[host:] {
		last := host+i+len(string(r)) == len(raw)
		if r <= ' ' || strings.ContainsRune(ends, r) || last && strings.ContainsRune(AddressMarks, r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// HasAddress reports whether a line holds a URL.
func HasAddress(line string) bool {
	return strings.Contains(line, "://") || strings.Contains(line, "www.")
}
