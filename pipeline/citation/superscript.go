package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// raised is <sup>1</sup>, also with brackets, and with a link to a note; <ref>1</ref> is no exponent.
var raised = regexp.MustCompile(`(?i)^<(sup|ref|cite|citation)(?:\s[^<>]{0,100})?>[ ]?(<a\s[^<>]{0,40}href=["']?#[^<>]{0,100}>)?(\[?)([0-9]{1,3}(?:[,–-][ ]?[0-9]{1,3}){0,9}(?:\]\[[0-9]{1,3}){0,9})(\]?)(?:</a>)?[ ]?</(?:sup|ref|cite|citation)>`)

// caret is Pandoc's way to raise.
var caret = regexp.MustCompile(`^\^([0-9]{1,3}(?:[,–-][0-9]{1,3}){0,9})\^`)

// linkedNumber leads to an entry by an anchor.
var linkedNumber = regexp.MustCompile(`(?i)^<a\s[^<>]{0,60}href=["']?#[^<>]{0,100}>[ ]?\[?([0-9]{1,3})\]?[ ]?</a>`)

// escaped is a marker whose brackets were escaped.
var escaped = regexp.MustCompile(`^\\\[([0-9]{1,3}(?:[,;–-][ ]?[0-9]{1,3}){0,9})\\\]`)

// superscripts are the raised digits of Unicode.
var superscripts = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7",
	"⁸", "8", "⁹", "9", "⁻", "-", "˒", ",", "⁽", "[", "⁾", "]")

const superscriptRunes = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒⁽⁾"

// raisedNumber handles citations of a text from outside that are no plain brackets: <sup>1</sup>, <ref>1</ref>, ¹,
// ^1^, \[1\] and <a href="#ref-1">1</a>. It returns i when none begins there.
func (w *walker) raisedNumber(i int) int {
	bare := true // nothing but its place makes it a citation
	var inside string
	var end int
	rest := w.text[i:min(len(w.text), w.plainEnd(i), i+400)]
	switch c := w.text[i]; {
	case c == '<' && (foldPrefix(rest, "<sup") || foldPrefix(rest, "<ref") || foldPrefix(rest, "<cit")):
		m := raised.FindStringSubmatch(rest)
		if m == nil || (m[3] == "") != (m[5] == "") {
			return i
		}
		bare = strings.EqualFold(m[1], "sup") && m[2] == "" && m[3] == ""
		inside, end = strings.ReplaceAll(m[4], "][", ","), i+len(m[0])
	case c == '<' && foldPrefix(rest, "<a "):
		m := linkedNumber.FindStringSubmatch(rest)
		if m == nil {
			return i
		}
		inside, end, bare = m[1], i+len(m[0]), false
	case c == '^':
		m := caret.FindStringSubmatch(rest)
		if m == nil {
			return i
		}
		inside, end = m[1], i+len(m[0])
	case c == '\\':
		m := escaped.FindStringSubmatch(rest)
		if m == nil {
			return i
		}
		inside, end, bare = m[1], i+len(m[0]), false
	case c == 0xc2 || c == 0xe2 || c == 0xcb:
		rest = rest[:min(len(rest), 44)]
		n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune(superscriptRunes, r) })
		if n < 0 {
			n = len(rest)
		}
		if n == 0 || n > 40 {
			return i
		}
		inside, end = strings.Trim(superscripts.Replace(rest[:n]), "[]"), i+n
	default:
		return i
	}
	g, ok := parseGroup("["+inside+"]", 0, 0)
	if !ok || len(g.ids) > 0 || !w.links.allKnown(g.numbers) || bare && w.isPower(i, end) {
		return i
	}
	g.end = end
	return w.replace(i, g)
}

// powers are words behind which a raised number is an exponent.
var powers = []string{"inch", "inches", "foot", "feet", "mile", "miles", "yard", "yards", "meter", "meters", "metre",
	"metres", "sin", "cos", "tan", "log", "exp", "chi"}

// isPower reports whether the raised number at text[i:end] is an exponent: behind a number or a short name, as in m²,
// or before a letter.
func (s *surroundings) isPower(i, end int) bool {
	if i == 0 {
		return false
	}
	if after, _ := utf8.DecodeRuneInString(s.text[end:]); end < len(s.text) && (isWord(after) || after == '(') {
		return true
	}
	before := s.text[max(0, i-20):i]
	word := strings.ToLower(before[len(strings.TrimRightFunc(before, func(r rune) bool {
		return r < utf8.RuneSelf && alnumASCII(byte(r))
	})):])
	last, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case word != "":
		return isDigit(word[len(word)-1]) || len(word) < 3 || slices.Contains(powers, word)
	case text.CJK(last):
		return false
	}
	return isWord(last) || strings.ContainsRune("$√∑∏", last)
}
