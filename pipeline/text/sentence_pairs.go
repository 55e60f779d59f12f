package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// closerOf maps opening marks to closing marks.
var closerOf = map[rune]rune{
	'(': ')', '[': ']', '{': '}', '“': '”', '«': '»', '„': '“', '「': '」', '『': '』', '（': '）', '《': '》', '【': '】',
}

// protectedPairs returns the matching pairs of brackets and quotes, sorted and disjoint. start and end are the offsets
// of the marks. Sentences are not cut inside a pair.
func protectedPairs(p string) []span {
	if !strings.ContainsAny(p, "([{“«„「『（《【\"`") {
		return nil
	}
	var found []span
	stacks := map[rune][]int{}
	straight := map[rune]int{'"': -1, '`': -1}
	prev := ' '
	for i, r := range p {
		germanClose := r == '“' && len(stacks['“']) > 0 // „so“
		if want, ok := closerOf[r]; ok && !germanClose {
			stacks[want] = append(stacks[want], i)
		}
		switch r {
		case '"', '`':
			at := straight[r]
			next, _ := utf8.DecodeRuneInString(p[i+1:])
			switch {
			case at >= 0 && (r == '`' || !unicode.IsSpace(prev)):
				found = append(found, span{at, i})
				straight[r] = -1
			case !unicode.IsLetter(prev) && !unicode.IsDigit(prev) && !unicode.IsSpace(next):
				straight[r] = i
			}
		case ')', ']', '}', '”', '»', '“', '」', '』', '）', '》', '】':
			if s := stacks[r]; len(s) > 0 && s[len(s)-1] < i {
				found = append(found, span{s[len(s)-1], i})
				stacks[r] = s[:len(s)-1]
			}
		}
		prev = r
	}
	found = slices.DeleteFunc(found, func(s span) bool { return s.end-s.start > maxProtected })
	slices.SortFunc(found, func(a, b span) int { return a.start - b.start })
	var out []span
	for _, s := range found {
		if n := len(out); n > 0 && s.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}

// inside reports whether a cut at byte at would fall into a pair. It removes the pairs that end before at.
func inside(pairs *[]span, at int) bool {
	for len(*pairs) > 0 && (*pairs)[0].end < at {
		*pairs = (*pairs)[1:]
	}
	return len(*pairs) > 0 && (*pairs)[0].start < at
}

// lineWidth returns the length in bytes of the longest line of p.
func lineWidth(p string) int {
	longest := 0
	for line := range strings.SplitSeq(p, "\n") {
		longest = max(longest, len(line))
	}
	return longest
}

// deliberateBreak reports whether the line p[line:next] was ended on purpose and not by wrapping. It has no stop, the
// next line begins like a sentence, and the first word of the next line would have fitted. This separates a heading
// from the first sentence below it, and menu entries from each other.
func deliberateBreak(p string, line, next, width int) bool {
	text := strings.TrimSpace(p[line : next-1])
	rest := strings.TrimLeft(p[next:], " \t")
	if text == "" || rest == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	if strings.ContainsRune(",;(-–—/&", last) {
		return false
	}
	w := firstField(rest)
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(w, "\"'“(["))
	if !unicode.IsUpper(r) && !Wide(r) {
		return false
	}
	if stopWords[strings.ToLower(lastField(text))] { // "of the\nKernel": such a line ends by wrapping
		return false
	}
	return next-1-line+1+len(w)+8 <= max(width, 40)
}
