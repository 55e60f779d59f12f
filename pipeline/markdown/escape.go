package markdown

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// Turning are the characters that turn the order of what follows.
const Turning = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

var turningRune = regexp.MustCompile("[" + Turning + "]")

// Escape returns Markdown that shows exactly this text on one line: white space is folded to single spaces, and what
// would become markup or a marker is escaped. What turns the order of other characters is left out: the text could
// make the address behind it look like another. The text may begin a paragraph.
func Escape(s string) string {
	s = text.Line(turningRune.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), ""))
	if n := blockStart(s); n > 0 {
		return s[:n-1] + `\` + s[n-1:n] + EscapeInline(s, n)
	}
	return EscapeInline(s, 0)
}

// EscapeInline escapes the folded text from start on, without regard to what a line may not begin with.
func EscapeInline(text string, start int) string {
	var b strings.Builder
	b.Grow(len(text) + 8)
	for i := start; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if size == 1 && needsEscape(text, i) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

// orderedStart begins an ordered list.
var orderedStart = regexp.MustCompile(`^[0-9]{1,9}[.)](?: |$)`)

// blockStart returns the length of the beginning that would make a line a heading, quote, list item, rule or fence; its
// last byte is the one to escape. 0 means that the line begins harmlessly or with what is escaped anywhere.
func blockStart(text string) int {
	if text != "" && strings.IndexByte("#>-+=~:", text[0]) >= 0 {
		return 1
	}
	return len(strings.TrimSuffix(orderedStart.FindString(text), " "))
}

// needsEscape decides about the ASCII byte at text[i], wherever in a line it stands.
func needsEscape(text string, i int) bool {
	next := byte(' ')
	if i+1 < len(text) {
		next = text[i+1]
	}
	switch text[i] {
	case '\\', '`', '*', '|', '[', ']', '~':
		return true
	case '_': // inside a word it is an ordinary character
		return i == 0 || i+1 == len(text) || !alnum(text[i-1]) || !alnum(next)
	case '<':
		return alnum(next) || next == '/' || next == '!' || next == '?'
	case '&': // an entity would be shown as its character
		return alnum(next) || next == '#'
	case '-': // the text must not look like a citation of this report
		for _, word := range []string{"CIT", "PLAN"} {
			if start := i - len(word); start >= 0 && strings.EqualFold(text[start:i], word) {
				return true
			}
		}
	}
	return false
}

func alnum(c byte) bool { return isAlnum(c) || c >= utf8.RuneSelf }

func isAlnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsPunct reports whether a backslash escapes this byte.
func IsPunct(c byte) bool { return c > ' ' && c < 0x7f && !isAlnum(c) }

// CodeSpan returns s as inline code, with a fence longer than any run of backticks in it. It returns "" for "".
func CodeSpan(s string) string {
	if s = text.Line(strings.ToValidUTF8(s, "\uFFFD")); s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + s + fence
}
