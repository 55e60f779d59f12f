package citation

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// leads are words with which writers introduce ids inside the brackets. What begins with another one stands before it.
var leads = []string{"sources", "source", "see also", "see", "refs", "ref", "citations", "citation", "cite", "cf",
	"e.g", "via", "vgl", "siehe", "quellen", "quelle", "voir", "véase", "fuente", "см", "来源", "参见", "引用", "见"}

func skipLead(s string, i int) int {
	i = skipSeparators(s, i)
	for _, lead := range leads {
		if foldPrefix(s[i:], lead) {
			end := i + len(lead)
			for _, mark := range []string{".", ":", "："} {
				end += len(s[end:]) - len(strings.TrimPrefix(s[end:], mark))
			}
			if next, _ := utf8.DecodeRuneInString(s[end:]); end == len(s) || !isWord(next) || end > i+len(lead) {
				return end
			}
		}
	}
	return i
}

// skipSeparators skips what stands between ids: white space up to one line break, commas, "and", a footnote's ^.
func skipSeparators(s string, i int) int {
	newlines := 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r {
		case '\n':
			if newlines++; newlines > 1 {
				return i
			}
		case ' ', '\t', '\r', '\u00a0', '\u00ad', '\u200b', '\u2060', '\ufeff', ',', ';', '&', '/', '^', '，', '、', '；', '،',
			'؛', '和', '及':
		default:
			if size = joined(s, i); size == 0 {
				return i
			}
		}
		i += size
	}
	return i
}

// joins are words between two numbers.
var joins = []string{"and ", "or ", "und ", "oder ", "et ", "ou ", "y ", "e ", "o ", "en ", "и ", "или "}

// joined returns the length of the word at s[i] that joins what stands before it to what follows, 0 without one.
func joined(s string, i int) int {
	for _, word := range joins {
		if foldPrefix(s[i:], word) && s[i-1] == ' ' {
			return len(word)
		}
	}
	return 0
}

// locator names a place in the source behind its number.
var locator = regexp.MustCompile(`(?i)^(?:(?:\s?,\s?|\s|:\s?)(?:(?:pp?|pages?|pgs?|chap|chapter|ch|sec|section` +
	`|figs?|figure|tab|table|lines?|slides?|eq|theorem|lemma|app|appendix|art|no|nr|paras?|seiten?|ss?|kap|abb|abs|pags?|págs?|páginas?` +
	`|cap|с|стр|гл|рис|табл)\.?\s?|§+\s?|第)|:\s)[0-9][0-9.]{0,7}(?:\s?[-–]\s?[0-9]{1,5})?(?:\s?ff?\b\.?)?(?:页|頁|ページ|쪽|章)?`)

// maxRange bounds [1-30]; more is a span of years or pages.
const maxRange = 60

// skipRange skips what follows a number within brackets: "-5" of a range, whose end it returns, "†L1-L9" of a browsing
// model.
func skipRange(s string, i int, closing rune) (last, end int) {
	rest := s[i:]
	if end := strings.IndexRune(rest[:min(len(rest), 84)], closing); strings.HasPrefix(rest, "†") && end >= 0 {
		return 0, i + end
	}
	blank := len(rest) - len(strings.TrimPrefix(rest, " ")) // [1 - 3]
	if dash, size := utf8.DecodeRuneInString(rest[blank:]); size > 0 && (isDash(dash) || dash == '~' || dash == '～') {
		size += blank
		size += len(rest[size:]) - len(strings.TrimPrefix(rest[size:], " "))
		if last, n := scanNumber(rest[size:]); n > 0 {
			return last, i + size + n
		}
	}
	return 0, i
}
