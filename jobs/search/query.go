package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a query; the excess is ignored.
const (
	maxQuery = 1000 // bytes
	maxTerms = 24   // at most 32, the bits of a candidate
)

// term is a part of a query: a word, or several adjacent words.
type term struct {
	words  []string
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
		piece := rest
		not := len(rest) > 1 && rest[0] == '-'
		if not {
			piece = rest[1:]
		}
		r, size := utf8.DecodeRuneInString(piece)
		if quoteMark(r) {
			body, after := piece[size:], ""
			if at := strings.IndexFunc(body, quoteMark); at >= 0 {
				_, size := utf8.DecodeRuneInString(body[at:])
				body, after = body[:at], body[at+size:]
			}
			terms, rest = appendTerms(terms, body, not), after
			continue
		}
		at := strings.IndexFunc(piece, func(r rune) bool { return unicode.IsSpace(r) || quoteMark(r) })
		if at < 0 {
			at = len(piece)
		}
		terms, rest = appendTerms(terms, piece[:at], not), piece[at:]
	}
	return terms[:min(len(terms), maxTerms)]
}

func quoteMark(r rune) bool { return strings.ContainsRune(`"“”„«»「」『』`, r) }

// appendTerms appends the words of one piece of a query as a term. A change of script begins another term.
func appendTerms(terms []term, piece string, not bool) []term {
	var group []token
	flush := func(ends bool) {
		if len(group) == 0 {
			return
		}
		t := term{not: not}
		for _, g := range group {
			t.words = append(t.words, g.word)
		}
		last := group[len(group)-1]
		switch {
		case last.wide: // a single character is the start of a pair
			t.prefix = utf8.RuneCountInString(last.word) == 1
		case ends && strings.HasSuffix(piece, "*"):
			t.prefix = true
			t.words[len(t.words)-1] = fold(piece[last.start:last.end])
		}
		terms, group = append(terms, t), nil
	}
	each(piece, nil, func(t token) {
		if t.last || t.word == "" { // already covered by the pairs before it
			return
		}
		if len(group) > 0 && group[0].wide != t.wide {
			flush(false)
		}
		group = append(group, t)
	})
	flush(true)
	return terms
}

// match returns terms as an FTS5 query, or "" if no term is wanted. joined: AND or OR.
func match(terms []term, joined string) string {
	var wanted, unwanted []string
	for _, t := range terms {
		q := `"` + strings.Join(t.words, " ") + `"`
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
