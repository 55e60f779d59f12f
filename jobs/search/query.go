package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// Limits of a query; the excess is ignored.
const (
	maxQuery = 1000 // bytes
	maxTerms = 24
)

// term is a part of a query: adjacent words.
type term struct {
	words  string
	prefix bool // the last word is a prefix
	not    bool
}

// parse returns the terms of a query. Words in quotation marks must be adjacent, a trailing star marks a prefix, and a
// leading minus excludes a term. Everything else is words. Any text is a valid query.
func parse(query string) (terms []term) {
	query = strings.ToValidUTF8(query, " ")
	for len(query) > maxQuery {
		_, size := utf8.DecodeLastRuneInString(query)
		query = query[:len(query)-size]
	}
	for rest := query; rest != ""; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		t := term{not: len(rest) > 1 && rest[0] == '-'}
		if t.not {
			rest = rest[1:]
		}
		ends := func(r rune) bool { return unicode.IsSpace(r) || quoteMark(r) }
		r, size := utf8.DecodeRuneInString(rest)
		quoted := quoteMark(r)
		if quoted {
			rest, ends = rest[size:], quoteMark
		}
		at := strings.IndexFunc(rest, ends)
		if at < 0 {
			at = len(rest)
		}
		t.words, rest = rest[:at], rest[at:]
		if r, size := utf8.DecodeRuneInString(rest); quoted && quoteMark(r) {
			rest = rest[size:]
		}
		t.prefix = strings.HasSuffix(t.words, "*")
		if strings.ContainsFunc(t.words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			terms = append(terms, t)
		}
	}
	return terms[:min(len(terms), maxTerms)]
}

func quoteMark(r rune) bool { return strings.ContainsRune(`"“”„«»「」『』`, r) }

// match returns terms as an FTS5 query, or "" if no term is wanted. joined: AND or OR.
func match(terms []term, joined string) string {
	var wanted, unwanted []string
	for _, t := range terms {
		q := `"` + indexed(t.words) + `"` // it has no quotation mark
		if t.prefix {
			q += "*"
		}
		if t.not {
			unwanted = append(unwanted, q)
		} else {
			wanted = append(wanted, q)
		}
	}
	if len(wanted) == 0 {
		return ""
	}
	q := "(" + strings.Join(wanted, " "+joined+" ") + ")"
	for _, u := range unwanted {
		q += " NOT " + u
	}
	return q
}

// Signs within texts of the index.
const (
	begins = "\x01" // a match begins
	ended  = "\x02" // it has ended
	apart  = "\u200b"
)

// signs removes them.
var signs = strings.NewReplacer("\x00", "", begins, "", ended, "", apart, "")

// indexed returns the form of a text in the index, whose tokenizer splits at spaces and signs: characters of scripts
// without spaces are words of their own, so that such text is found by any part of it.
func indexed(s string) string {
	var b strings.Builder
	for _, r := range signs.Replace(s) {
		if text.Wide(r) {
			b.WriteString(apart + string(r) + apart)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
