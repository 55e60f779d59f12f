package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths of a complete sentence: words, or characters when it is mostly Chinese, Japanese or Korean.
const (
	minWords, maxWords = 5, 60
	minWide, maxWide   = 8, 200
)

// Least share of letters among the visible characters. Wide sentences are short and have as many marks as others.
const (
	minLetters     = 0.7
	minWideLetters = 0.55
)

// complete reports whether a sentence stands alone as prose. s: as written; ws: its words; first: it begins its
// paragraph. The cheap checks come first: most of what a page holds besides prose fails at its ends.
func complete(s string, ws []word, first bool) bool {
	if !endsLikeSentence(s, ws) || !beginsLikeSentence(s, ws, first) {
		return false
	}
	isWide := wideShare(s) > 0.3
	if isWide {
		if n := utf8.RuneCountInString(s); n < minWide || n > maxWide {
			return false
		}
	} else if n := wordCount(ws); n < minWords || n > maxWords {
		return false
	}
	if !balanced(s) || !prose(s, ws) || boilerplate(s, ws) {
		return false
	}
	if isWide {
		return true
	}
	return grammatical(ws)
}

func wordCount(ws []word) int {
	n := 0
	for _, w := range ws {
		if w.raw != "" {
			n++
		}
	}
	return n
}

// endsLikeSentence reports a full stop, question or exclamation mark, perhaps before closing quotes, brackets and
// reference marks. A colon leads in to something else; an ellipsis means that something was cut away.
func endsLikeSentence(s string, ws []word) bool {
	if len(ws) == 0 {
		return false
	}
	for strings.HasSuffix(s, "]") { // reference marks: "done.[3][4]"
		i := strings.LastIndexByte(s, '[')
		if i < 0 || len(s)-i > 6 || strings.Trim(s[i+1:len(s)-1], "0123456789,") != "" {
			break
		}
		s = s[:i]
	}
	s = strings.TrimRight(s, "\"'”’»)]`*_」』）“ ")
	if strings.HasSuffix(s, "..") || strings.HasSuffix(s, "…") {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	if wideStop(last) || last == '!' || last == '?' {
		return true
	}
	if last != '.' {
		return false
	}
	low := strings.ToLower(lastField(s[:len(s)-1]))
	low = strings.TrimLeft(low, "([\"'“")
	return !openAbbreviation[low]
}

// beginsLikeSentence reports a capital, a digit, a wide character or a name from code. A lower-case word begins a
// sentence only where a paragraph begins, and only when a verb follows: "gofmt formats ...", "iPhone users are ...".
func beginsLikeSentence(s string, ws []word, first bool) bool {
	t := strings.TrimLeft(s, "\"'“‘«„¿¡「『`*_《")
	r, _ := utf8.DecodeRuneInString(t)
	switch {
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		return true
	case unicode.IsDigit(r):
		return !numbered(ws)
	case unicode.IsLetter(r) && !unicode.IsLower(r): // scripts without case
		return true
	case r == '/' || r == '.' || r == '$' || r == '_' || r == '@': // /etc/hosts, .gitignore, $HOME, __init__
		return first && len(ws) > 1 && followsSubject(ws[1].low)
	case !unicode.IsLower(r):
		return false
	}
	if identifierLike(firstField(t)) {
		return len(ws) > 1 && (followsSubject(ws[1].low) || first && followsLater(ws))
	}
	return first && len(ws) > 1 && !stopWords[ws[0].low] && ws[0].after == "" && followsSubject(ws[1].low)
}

// followsSubject reports a word that can follow the subject of an English sentence.
func followsSubject(low string) bool {
	if auxiliary[low] {
		return true
	}
	_, ok := thirdPerson(low)
	return ok || irregular[low]
}

// followsLater is followsSubject for a subject of two or three words: "iPhone sales have".
func followsLater(ws []word) bool {
	return len(ws) > 2 && followsSubject(ws[2].low) || len(ws) > 3 && followsSubject(ws[3].low)
}

// numbered reports a heading's number before a capital: "2.3.1 Frobnicating", "4. Results".
func numbered(ws []word) bool {
	if len(ws) < 2 || !strings.ContainsAny(ws[0].raw+ws[0].after, ".)") || ws[1].raw == "" {
		return false
	}
	if strings.Trim(ws[0].raw, "0123456789.") != "" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(ws[1].raw)
	return unicode.IsUpper(r)
}

// balanced reports that brackets and double quotes are opened and closed in order.
func balanced(s string) bool {
	var open []rune
	quotes, ticks := 0, 0
	for _, r := range s {
		switch r {
		case '"':
			quotes++
		case '`':
			ticks++
		case '“':
			if n := len(open); n > 0 && open[n-1] == '“' { // „so“
				open = open[:n-1]
				continue
			}
		case ')', ']', '}', '”', '»', '」', '』', '）', '》', '】':
			n := len(open)
			if n == 0 || open[n-1] != r {
				return false
			}
			open = open[:n-1]
			continue
		}
		if c, ok := closerOf[r]; ok {
			open = append(open, c)
		}
	}
	return len(open) == 0 && quotes%2 == 0 && ticks%2 == 0
}

// prose reports that s is made of words: not code, not a path through menus, not a row of cells.
func prose(s string, ws []word) bool {
	if strings.ContainsAny(s, "¶›|\ufffd☰✓✔►▶") || strings.Contains(s, " » ") || strings.Contains(s, "->>") {
		return false
	}
	lettersN, visible, upper, breaks := 0, 0, 0, 0
	for _, r := range s {
		switch {
		case r == '\n':
			breaks++
		case unicode.IsSpace(r):
		case unicode.IsControl(r):
			return false
		default:
			visible++
			if unicode.IsLetter(r) {
				lettersN++
				if unicode.IsUpper(r) {
					upper++
				}
			}
		}
	}
	isWide := wideShare(s) > 0.3
	share := minLetters
	if isWide {
		share = minWideLetters
	}
	if visible == 0 || float64(lettersN) < share*float64(visible) || upper*2 > lettersN {
		return false
	}
	if breaks >= 3 && len(s)/(breaks+1) < 25 { // a column of entries
		return false
	}
	if isWide {
		return true
	}
	symbols, odd := 0, 0
	for i, w := range ws {
		switch {
		case w.raw == "" && w.after != "-" && w.after != "–" && w.after != "—" && w.after != "&":
			symbols++
			if w.after == ">" && i > 0 && i+1 < len(ws) && capital(ws[i-1].raw) && capital(ws[i+1].raw) {
				return false // Home > Docs
			}
			if w.after == "=>" || w.after == ":=" || w.after == "$" || w.after == ">>>" || w.after == "{" || w.after == "}" {
				return false
			}
		case strings.ContainsAny(w.raw, "(){}=<>;\\$") || strings.Contains(w.after, ";") && i == len(ws)-1:
			odd++
		}
	}
	return symbols*8 <= len(ws) && odd*3 <= len(ws)
}

func capital(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

func hasSuffixAny(s string, suffixes ...string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

func hasPrefixAny(s string, prefixes []string) bool {
	for _, x := range prefixes {
		if strings.HasPrefix(s, x) {
			return true
		}
	}
	return false
}
