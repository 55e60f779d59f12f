package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxProtected is the maximum length in bytes at which brackets and quotes keep their sentences together. Longer pairs
// are more likely two stray marks than one remark.
const maxProtected = 400

// cut returns the sentences of one paragraph, without white space between them.
func cut(p string) []span {
	var out []span
	start := 0
	emit := func(end, next int) {
		s := strings.TrimLeftFunc(p[start:end], unicode.IsSpace)
		if start > 0 { // after a sentence, dots mark an omission: search engines join passages with them
			s = strings.TrimPrefix(s, "... ")
		}
		from := end - len(s)
		if s = strings.TrimRightFunc(s, unicode.IsSpace); s != "" {
			out = append(out, span{from, from + len(s)})
		}
		start = next
	}
	pairs := protectedPairs(p)
	width := lineWidth(p)
	line := 0 // start of the current line
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRuneInString(p[i:])
		i += size
		switch {
		case r == '\n':
			if deliberateBreak(p, line, i, width) {
				emit(i, i)
			}
			line = i
		case wideStop(r):
			end := closers(p, stops(p, i))
			if !inside(&pairs, end) && !quoteGoesOn(p, i, end) {
				emit(end, end)
			}
			i = end
		case r == '.' || r == '!' || r == '?' || r == '…':
			dot := i - size
			after := stops(p, i)
			end := closers(p, after)
			if end < len(p) {
				next, _ := utf8.DecodeRuneInString(p[end:])
				if !unicode.IsSpace(next) {
					i = after
					continue
				}
			}
			if inside(&pairs, end) || end > after && lowerNext(p[end:]) || !boundary(p[start:dot], p[dot:after], p[end:]) {
				i = after
				continue
			}
			emit(end, end)
			i = end
		}
	}
	emit(len(p), len(p))
	return out
}

// stops returns the end of the stops that start at i, as in "?!" or "...".
func stops(p string, i int) int {
	for i < len(p) {
		r, size := utf8.DecodeRuneInString(p[i:])
		if !wideStop(r) && !strings.ContainsRune(".!?…", r) {
			break
		}
		i += size
	}
	return i
}

// closers returns the end of the closing quotes, brackets and reference marks such as [12] that follow a sentence at i.
func closers(p string, i int) int {
	for i < len(p) {
		r, size := utf8.DecodeRuneInString(p[i:])
		switch r {
		case '"', '\'', '”', '’', '»', ')', ']', '}', '」', '』', '）', '】', '》', '`', '*', '_', '“':
			i += size
			continue
		case '[':
			n := strings.IndexByte(p[i:], ']')
			if n < 2 || n > 5 || strings.Trim(p[i+1:i+n], "0123456789,") != "" {
				return i
			}
			i += n + 1
			continue
		}
		break
	}
	return i
}

func wideStop(r rune) bool { return r == '。' || r == '！' || r == '？' || r == '｡' }

// quoteGoesOn reports whether the sentence continues after a stop and a closing quote: 「…。」と言った.
func quoteGoesOn(p string, stop, end int) bool {
	if end == stop || end == len(p) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p[end:])
	return strings.ContainsRune("とというのは、，的,", r)
}

// boundary reports whether mark ends the sentence before it. rest begins with the white space after mark.
func boundary(before, mark, rest string) bool {
	next := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if next == "" {
		return true
	}
	word := firstField(next)
	opened := strings.TrimLeft(word, "\"'“‘«([{„*_`「『（¿¡")
	if opened == "" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(opened)
	low := strings.ToLower(strings.TrimRight(opened, ".,;:!?)]}\"'”’»"))
	lower := unicode.IsLower(r)
	if strings.Trim(mark, ".") != "" { // ! or ? or …
		return !lower || identifierLike(opened)
	}
	if len(mark) > 1 { // an ellipsis is more often inside a sentence than at its end
		last, _ := utf8.DecodeLastRuneInString(before) // "SELECT ... FOR UPDATE" is one piece
		return !unicode.IsSpace(last) && (unicode.IsUpper(r) || Wide(r))
	}
	prev := strings.TrimLeft(lastField(before), "\"'“‘«([{„*_`—–-/")
	first, _ := utf8.DecodeRuneInString(prev)
	lowPrev := strings.ToLower(prev)
	switch {
	case prev == "":
		return false
	case initials(prev) && unicode.IsUpper(first) && !openAbbreviation[lowPrev]: // S. Petrossian, Randal L. Schwartz, U.S.
		return starter[low] && !lower
	case countedAbbreviation[lowPrev]: // No. 5, Fig. 3, but: "The answer is no. We ..."
		return !lower && !unicode.IsDigit(r) && !strings.HasPrefix(word, "(") && !romanOrLetter(opened)
	case openAbbreviation[lowPrev]:
		return false
	case closingAbbreviation[lowPrev]: // etc. Inc. a.m.
		starts := lowPrev == "etc" || lowPrev == "usw" || starter[low]
		return !lower && !unicode.IsDigit(r) && opened == word && starts
	case initials(prev): // z. B.
		return starter[low] && !lower
	case germanOrdinal(before, prev) && !starter[low]: // am 3. Oktober
		return false
	case lower:
		return identifierLike(opened) || letters(prev) && utf8.RuneCountInString(prev) >= 4 || strings.HasSuffix(prev, ")")
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || opened != word || strings.ContainsRune("@$</.", r)
}

// lowerNext reports whether the next word begins in lower case, so that the closed bracket or quote was part of a
// sentence.
func lowerNext(rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	return unicode.IsLower(r)
}

// initials reports whether w is one letter, or letters with dots between them: "J", "U.S", "z.B".
func initials(w string) bool {
	n := 0
	for i, r := range w {
		fits := r == '.'
		if n%2 == 0 {
			fits = unicode.IsLetter(r)
		}
		if !fits || i > 12 {
			return false
		}
		n++
	}
	return n%2 == 1
}

// germanOrdinal reports whether number is a day or rank: one or two digits after a German function word.
func germanOrdinal(before, number string) bool {
	if len(number) > 2 || strings.Trim(number, "0123456789") != "" {
		return false
	}
	return germanArticle[strings.ToLower(lastField(strings.TrimSuffix(before, number)))]
}

func romanOrLetter(w string) bool {
	switch w = strings.TrimRight(w, ".,;:)]"); w {
	case "", "I", "A":
		return false
	}
	return len(w) == 1 || strings.Trim(w, "IVXLC") == ""
}

func letters(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return s != ""
}

func firstField(s string) string {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i]
	}
	return s
}

func lastField(s string) string {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	// A longer field is not a word. The limit keeps the time linear for hostile text without spaces.
	if len(s) > 80 {
		s = s[len(s)-80:]
	}
	if i := strings.LastIndexFunc(s, unicode.IsSpace); i >= 0 {
		_, size := utf8.DecodeRuneInString(s[i:])
		return s[i+size:]
	}
	return s
}

// identifierLike reports whether w looks like a name from code: a dot, slash, underscore, digit, call or capital inside
// it.
func identifierLike(w string) bool {
	w = strings.TrimRight(w, ".,;:!?\"'”’»")
	for i, r := range w {
		if i == 0 {
			continue
		}
		if strings.ContainsRune("./_(", r) || unicode.IsDigit(r) || unicode.IsUpper(r) {
			return true
		}
	}
	return false
}
