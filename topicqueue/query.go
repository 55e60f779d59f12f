package topicqueue

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// CanonicalQuery returns the canonical form of a query, which identifies equal queries: NFKC, lower case, words
// without punctuation, each once, in alphabetical order and joined by one space. Characters that belong to a word
// stay ("c++", "3.1", "1,5"), so that Theorem 3.1 and Theorem 31 differ.
//
// q: UTF-8 of any length, natural language. A query without a letter or digit gives the empty string. Never fails.
// Queries that differ only in word order are equal for a search.
func CanonicalQuery(q string) string {
	return joinSet(canonicalWords(q))
}

// joinSet joins words in alphabetical order, each once.
func joinSet(words []string) string {
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

func canonicalWords(text string) []string {
	// Fold again after ToLower, which can undo the folding. Invalid bytes would keep the text after them from being
	// folded.
	runes := []rune(norm.NFKC.String(strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(text, " ")))))
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = word[:0]
		}
	}
	for i, r := range runes {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			word = append(word, r)
		case (r == '+' || r == '#') && len(word) > 0: // c++, c#
			word = append(word, r)
		case (r == '.' || r == ',') && digitAt(word, len(word)-1) && digitAt(runes, i+1): // 3.1
			word = append(word, r)
		default:
			flush()
		}
	}
	flush()
	return words
}

func digitAt(runes []rune, i int) bool { return i >= 0 && i < len(runes) && unicode.IsDigit(runes[i]) }
