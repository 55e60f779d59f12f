package citation

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// ranges are words after which [1, 2] is an interval and no citation.
var ranges = []string{"interval", "range", "in", "between", "from", "to", "of", "over", "=", "∈", "区间", "范围"}

// isCitedNumber reports whether a group of bare numbers reads like citations that a model numbered by itself:
// "was proposed [7]." but not arr[2], [2024], the interval [0, 1] or anything in a formula.
func (w *walker) isCitedNumber(start int, g group) bool {
	for _, n := range g.numbers {
		if n == 0 || n >= 1000 { // years, sizes; references are counted from 1
			return false
		}
	}
	if start > 0 && w.markerEnd != start && w.text[start] == '[' {
		before, _ := utf8.DecodeLastRuneInString(w.text[:start])
		if isWord(before) || before == ']' || before == ')' || before == '$' {
			return false
		}
	}
	if len(g.numbers) > 1 && g.dest == "" {
		words := strings.Fields(w.text[max(0, start-40):start])
		if len(words) > 0 && slices.Contains(ranges, strings.ToLower(words[len(words)-1])) {
			return false
		}
	}
	if !w.mathFound {
		w.math, w.mathFound = mathSpans(w.text), true
	}
	at, found := slices.BinarySearchFunc(w.math, start, func(s span, pos int) int { return s.start - pos })
	return !found && (at == 0 || w.math[at-1].end <= start)
}

// mathSpans returns what stands between $ or $$ in one paragraph. As in Pandoc, the text begins and ends without a space
// and no digit follows the closing $, so that "$5 and $6" is money.
func mathSpans(md string) []span {
	var spans []span
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
		if blank := strings.Index(body, "\n\n"); blank >= 0 {
			body = body[:blank]
		}
		body = body[:min(len(body), 2000)]
		end := strings.Index(body, mark)
		if end <= 0 {
			i += len(mark) - 1
			continue
		}
		after := i + 2*len(mark) + end
		if mark == "$" && (body[0] == ' ' || body[end-1] == ' ' || after < len(md) && md[after] >= '0' && md[after] <= '9') {
			continue
		}
		spans = append(spans, span{i, after})
		i = after - 1
	}
	return spans
}
