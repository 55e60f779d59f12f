package citation

import (
	"slices"
	"strings"
	"unicode/utf8"
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

// isInterval reports whether [1, 2] follows a word that makes it a range of values.
func (s *surroundings) isInterval(start int, g group) bool {
	words := strings.Fields(s.text[max(0, start-60):start])
	return len(g.numbers) == 2 && g.dest == "" && len(words) > 0 &&
		slices.Contains(ranges, strings.ToLower(words[len(words)-1]))
}

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
	return !s.isMath(start)
}

// isGlued reports whether a bracket directly follows a word or a bracket, as an index does.
func (s *surroundings) isGlued(start int) bool {
	if start == 0 || s.text[start] != '[' {
		return false
	}
	before := s.text[start-1]
	return alnumASCII(before) || strings.IndexByte("_])$", before) >= 0
}

// isIndex reports whether the bracket at start, directly behind a word or a bracket, indexes it as programs do.
func (s *surroundings) isIndex(start, end int) bool {
	rest := s.text[end:]
	if strings.HasPrefix(rest, " = ") || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "(") {
		return true
	}
	before := s.text[max(0, start-200):start]
	word := before[len(strings.TrimRightFunc(before, func(r rune) bool {
		return r < utf8.RuneSelf && (r == '_' || r == '.' || alnumASCII(byte(r)))
	})):]
	word = strings.Trim(word, "_") // emphasis
	return strings.ContainsAny(word, "_.") || len(word) == 1 && word[0] >= 'a'
}

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
