package markup

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Surroundings decides by the context of a number in a text whether it is a citation.
type Surroundings struct {
	Text      string
	MarkerEnd int   // end of the last marker; -1 = none yet
	math      Spans // found when first needed
	mathFound bool
}

// ranges are words after which [1, 2] is an interval and no citation.
var ranges = []string{"interval", "range", "in", "between", "from", "to", "of", "over", "=", "∈", "区间", "范围"}

// isInterval reports whether [1, 2] follows a word that makes it a range of values.
func (s *Surroundings) isInterval(start int, g Group) bool {
	words := strings.Fields(s.Text[max(0, start-60):start])
	return len(g.Numbers) == 2 && g.Dest == "" && len(words) > 0 &&
		slices.Contains(ranges, strings.ToLower(words[len(words)-1]))
}

// IsCitedNumber reports whether a group of bare numbers reads like citations that a model numbered by itself:
// "was proposed [7]." but not arr[2], [2024], the interval [0, 1] or anything in a formula.
func (s *Surroundings) IsCitedNumber(start int, g Group) bool {
	if g.Hash {
		return false
	}
	for _, n := range g.Numbers {
		if n == 0 || n >= 1000 { // years, sizes; references are counted from 1
			return false
		}
	}
	if start > 0 && s.MarkerEnd != start && s.Text[start] == '[' {
		before, _ := utf8.DecodeLastRuneInString(s.Text[:start])
		if isWord(before) || before == ']' || before == ')' || before == '$' {
			return false
		}
	}
	return !s.isInterval(start, g) && !s.isMath(start)
}

// IsCitation reports whether a group of bare numbers in a report from elsewhere is a citation rather than an index.
func (s *Surroundings) IsCitation(start int, g Group) bool {
	inRow := start == s.MarkerEnd || strings.HasPrefix(s.Text[start:], "[^")
	if !inRow && s.isGlued(start) && s.isIndex(start, g.End) {
		return false
	}
	return !s.isMath(start)
}

// isGlued reports whether a bracket directly follows a word or a bracket, as an index does.
func (s *Surroundings) isGlued(start int) bool {
	if start == 0 || s.Text[start] != '[' {
		return false
	}
	before := s.Text[start-1]
	return AlnumASCII(before) || strings.IndexByte("_])$", before) >= 0
}

// isIndex reports whether the bracket at start, directly behind a word or a bracket, indexes it as programs do.
func (s *Surroundings) isIndex(start, end int) bool {
	rest := s.Text[end:]
	if strings.HasPrefix(rest, " = ") || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "(") {
		return true
	}
	before := s.Text[max(0, start-200):start]
	word := before[len(strings.TrimRightFunc(before, func(r rune) bool {
		return r < utf8.RuneSelf && (r == '_' || r == '.' || AlnumASCII(byte(r)))
	})):]
	word = strings.Trim(word, "_") // emphasis
	return strings.ContainsAny(word, "_.") || len(word) == 1 && word[0] >= 'a'
}

// isMath reports whether a place is within a formula.
func (s *Surroundings) isMath(start int) bool {
	if !s.mathFound {
		s.math, s.mathFound = mathSpans(s.Text), true
	}
	return s.math.Has(start)
}

// mathForm is text between $ or $$ in one paragraph, or an escaped character. As in Pandoc, the text begins and ends
// without a space and no digit follows the closing $, so that "$5 and $6" is money.
var mathForm = regexp.MustCompile(`\\(?s:.)|\$\$(?:[^$\n]|\n[^$\n])+\$\$` +
	`|\$[^\s$](?:(?:[^$\n]|\n[^$\n])*[^\s$])?\$`)

func mathSpans(md string) (found Spans) {
	if !strings.Contains(md, "$") {
		return nil
	}
	for _, m := range mathForm.FindAllStringIndex(md, -1) {
		isMoney := md[m[0]:m[0]+2] != "$$" && m[1] < len(md) && IsDigit(md[m[1]])
		if md[m[0]] == '$' && !isMoney {
			found = append(found, Span{m[0], m[1]})
		}
	}
	return found
}
