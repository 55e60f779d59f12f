package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// raised is a number that is no plain marker: <sup>1</sup>, also with brackets and with a link to a note, <ref>1</ref>;
// <a href="#ref-1">1</a>; ^1^ of Pandoc; \[1\] with escaped brackets; ¹.
var raised = regexp.MustCompile(`(?i)^(?:<(sup|ref|cite|citation)(?:\s[^<>]{0,100})?>[ ]?` +
	`(<a\s[^<>]{0,40}href=["']?#[^<>]{0,100}>)?(\[?)([0-9]{1,3}(?:[,–-][ ]?[0-9]{1,3}){0,9}(?:\]\[[0-9]{1,3}){0,9})(\]?)` +
	`(?:</a>)?[ ]?</(?:sup|ref|cite|citation)>` +
	`|<a\s[^<>]{0,60}href=["']?#[^<>]{0,100}>[ ]?\[?([0-9]{1,3})\]?[ ]?</a>` +
	`|\^([0-9]{1,3}(?:[,–-][0-9]{1,3}){0,9})\^` +
	`|\\\[([0-9]{1,3}(?:[,;–-][ ]?[0-9]{1,3}){0,9})\\\]` +
	`|([⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒⁽⁾]{1,20}))`)

// superscripts are the raised digits of Unicode.
var superscripts = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7",
	"⁸", "8", "⁹", "9", "⁻", "-", "˒", ",", "⁽", "[", "⁾", "]")

// raisedNumber handles citations of a text from outside that are no plain brackets. It returns i when none begins
// there.
func (w *walker) raisedNumber(i int) int {
	if strings.IndexByte("<^\\\xc2\xe2\xcb", w.text[i]) < 0 {
		return i
	}
	m := raised.FindStringSubmatch(w.text[i:min(len(w.text), w.plainEnd(i), i+400)])
	if m == nil || (m[3] == "") != (m[5] == "") {
		return i
	}
	inside := strings.Trim(superscripts.Replace(strings.ReplaceAll(m[4], "][", ",")+m[6]+m[7]+m[8]+m[9]), "[]")
	// nothing but its place makes it a citation
	bare := m[7]+m[9] != "" || strings.EqualFold(m[1], "sup") && m[2]+m[3] == ""
	end := i + len(m[0])
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
