package topicqueue

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether r is invisible although a terminal or browser may act on it: controls, marks that change
// text direction, zero-width characters, tags. Line ends, tabs and the joiners that scripts and emoji need are not
// hidden.
func Hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && r != '\n' && r != '\t'
	case r == '\u00ad', r == '\u061c', r == '\u180e', r == '\u200b', r == '\u200e', r == '\u200f', r == '\ufeff':
		return true
	}
	switch {
	case r >= '\u202a' && r <= '\u202e', r >= '\u2060' && r <= '\u206f', r >= '\ufff9' && r <= '\ufffb',
		r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return unicode.IsControl(r)
}

// Printable returns foreign text in the form in which it is stored, quoted and shown: valid UTF-8 without hidden
// characters. Every line end becomes a line feed. All text that enters a run passes through Printable before it is
// stored, so that quotes and their offsets refer to the same text. Printable is idempotent.
func Printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || Hidden(r) || lineEnd(r) }) < 0 {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case lineEnd(r):
			return '\n'
		case Hidden(r):
			return -1
		}
		return r
	}, s)
}

// lineEnd reports whether r ends a line or page, other than a line feed.
func lineEnd(r rune) bool {
	switch r {
	case '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// OneLine returns foreign text on one line: printable, white space folded.
func OneLine(s string) string {
	return strings.Join(strings.Fields(Printable(strings.ToValidUTF8(s, ""))), " ")
}

// Clip shortens s to at most limit bytes on a rune boundary and appends an ellipsis. limit must leave room for it.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.TrimRightFunc(s[:cut], unicode.IsSpace) + "…"
}

// EditDistance returns the number of bytes to insert, remove or replace to turn a into b (Levenshtein 1966).
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
