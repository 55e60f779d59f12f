package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// surroundings decides by the context of a number in a text whether it is a citation.
type surroundings struct {
	text      string
	markerEnd int      // end of the last marker; -1 = none yet
	math      [][2]int // found when first needed
	mathFound bool
}

// ranges are words after which [1, 2] is an interval and no citation.
var ranges = []string{"interval", "range", "in", "between", "from", "to", "of", "over", "=", "∈", "区间", "范围"}

// isCitedNumber reports whether a group of bare numbers reads like citations that a model numbered by itself:
// "was proposed [7]." but not arr[2], [2024], the interval [0, 1] or anything in a formula.
func (s *surroundings) isCitedNumber(start int, g group) bool {
	if g.hash {
		return false
	}
	for _, n := range g.numbers {
		if n == 0 || n >= 1000 { // years, sizes; references are counted from 1
			return false
		}
	}
	if start > 0 && s.markerEnd != start && s.text[start] == '[' {
		before, _ := utf8.DecodeLastRuneInString(s.text[:start])
		if isWord(before) || before == ']' || before == ')' || before == '$' {
			return false
		}
	}
	return !s.isInterval(start, g) && !s.isMath(start)
}

// isCitation reports whether a group of bare numbers in a report from elsewhere is a citation rather than an index.
func (s *surroundings) isCitation(start int, g group) bool {
	inRow := start == s.markerEnd || strings.HasPrefix(s.text[start:], "[^")
	if !inRow && s.isGlued(start) && s.isIndex(start, g.end) {
		return false
	}
	return !s.isInterval(start, g) && !s.isMath(start)
}

// isGlued reports whether a bracket directly follows a word or a bracket, as an index does.
func (s *surroundings) isGlued(start int) bool {
	if start == 0 || s.text[start] != '[' {
		return false
	}
	before := s.text[start-1]
	return alnumASCII(before) || strings.IndexByte("_])$", before) >= 0
}

// arrays are usual names of arrays in programs.
var arrays = strings.Fields(`
	arr array list item items data args argv vec vector buf buffer map dict row rows col cols matrix
	tensor values nums str obj result results words lines tuple`)

// isIndex reports whether the bracket at start, directly behind a word or a bracket, indexes it as programs do.
func (s *surroundings) isIndex(start, end int) bool {
	switch rest := s.text[end:]; {
	case strings.HasPrefix(rest, " = ") || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "("):
		return true
	case len(rest) > 1 && rest[0] == '.' && alnumASCII(rest[1]):
		return true
	}
	before := s.text[max(0, start-200):start]
	switch before[len(before)-1] {
	case ')': // f(x)[1] indexes, "(IMF)[1]" and a link cite
		open := strings.LastIndexByte(before, '(')
		return open > 0 && alnumASCII(before[open-1])
	case ']': // m[1][2] indexes, [text][1] cites
		open := strings.LastIndexByte(before, '[')
		return open > 0 && (alnumASCII(before[open-1]) || strings.IndexByte("_])", before[open-1]) >= 0)
	case '$':
		return true
	case '_': // a_[2] indexes, __a__[2] cites
		run := before[len(strings.TrimRight(before, "_")):]
		open := strings.LastIndex(before[:len(before)-len(run)], run)
		return open < 0 || open > 0 && (before[open-1] == '_' || alnumASCII(before[open-1]))
	}
	word := before[len(strings.TrimRightFunc(before, func(r rune) bool {
		return r < utf8.RuneSelf && (r == '_' || r == '.' || alnumASCII(byte(r)))
	})):]
	if strings.ContainsAny(word, "_.") || slices.Contains(arrays, word) || len(word) == 1 && word[0] >= 'a' {
		return true
	}
	// camelCase
	return strings.IndexFunc(word[1:], func(r rune) bool {
		return r >= 'A' && r <= 'Z'
	}) >= 0 && word != strings.ToUpper(word)
}

// isInterval reports whether [1, 2] follows a word that makes it a range of values.
func (s *surroundings) isInterval(start int, g group) bool {
	if len(g.numbers) < 2 || g.dest != "" {
		return false
	}
	words := strings.Fields(s.text[max(0, start-60):start])
	if len(words) == 0 || !slices.Contains(ranges, strings.ToLower(words[len(words)-1])) {
		return false
	}
	return len(words) < 2 || !slices.Contains(reporting, strings.ToLower(words[len(words)-2]))
}

// reporting are words that make "in [1, 2]" a citation.
var reporting = strings.Fields(`
	shown reported described discussed seen found noted given presented proposed detailed outlined
	listed cited reviewed introduced studied published documented summarized summarised as results work
	works`)

// isMath reports whether a place is within a formula.
func (s *surroundings) isMath(start int) bool {
	if !s.mathFound {
		s.math, s.mathFound = mathSpans(s.text), true
	}
	return Within(s.math, start)
}

// mathSpans returns what stands between $ or $$ in one paragraph. As in Pandoc, the text begins and ends without a
// space and no digit follows the closing $, so that "$5 and $6" is money.
func mathSpans(md string) [][2]int {
	var found [][2]int
	for i := 0; i < len(md); i++ {
		switch md[i] {
		case '\\':
			i++
			continue
		case '$':
		default:
			continue
		}
		mark := "$"
		if strings.HasPrefix(md[i:], "$$") {
			mark = "$$"
		}
		body := md[i+len(mark):]
		body = body[:min(len(body), 2000)]
		if blank := strings.Index(body, "\n\n"); blank >= 0 {
			body = body[:blank]
		}
		end := strings.Index(body, mark)
		if end <= 0 {
			i += len(mark) - 1
			continue
		}
		after := i + 2*len(mark) + end
		isMoney := body[0] == ' ' || body[end-1] == ' ' || after < len(md) && isDigit(md[after])
		if mark == "$" && isMoney {
			continue
		}
		found = append(found, [2]int{i, after})
		i = after - 1
	}
	return found
}

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
	if !ok || len(g.ids) > 0 || !w.allKnown(g.numbers) {
		return i
	}
	if g.end = end; bare && w.isPower(i, end) {
		return i
	}
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
