package citation

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	namedNote  = regexp.MustCompile(`^ {0,3}\[\^([^\[\]\s^]{1,80})\]:`)
	noteMarker = regexp.MustCompile(`\[\^?([^\[\]\s^]{1,80})\]`)
)

// numberNotes gives footnotes with names, [^smith2020], numbers above all that the text has, where they lead somewhere;
// remarks keep their names. names has the names by number.
func (r *Registry) numberNotes(text string) (numbered string, names map[int]string) {
	if !strings.Contains(text, "]:") || !strings.Contains(text, "[^") {
		return text, nil
	}
	lines := textLines(text)
	cites := sync.OnceValue(func() bool { return r.hasList(text) })
	numbers := map[string]int{}
	var order []string
	for i, l := range lines {
		m := namedNote.FindStringSubmatch(l.of(text))
		if m == nil || l.code || isNoteNumber(m[1]) || numbers[strings.ToLower(m[1])] != 0 {
			continue
		}
		if note := noteText(text, lines[i:], len(m[0])); r.hasTarget(note) && !(r.isRemark(note) && cites()) {
			numbers[strings.ToLower(m[1])] = -1
			order = append(order, strings.ToLower(m[1]))
		}
	}
	if len(order) == 0 {
		return text, nil
	}
	code := codeSpans(text)
	marks := noteMarker.FindAllStringSubmatchIndex(text, -1)
	marks = slices.DeleteFunc(marks, func(m []int) bool {
		for len(code) > 0 && code[0].end <= m[0] {
			code = code[1:]
		}
		return len(code) > 0 && code[0].start <= m[0]
	})
	top := 0
	for _, m := range marks {
		if n, err := strconv.Atoi(text[m[2]:m[3]]); err == nil && n < 1000 {
			top = max(top, n)
		}
	}
	names = map[int]string{}
	for i, name := range order {
		numbers[name] = top + 1 + i
	}
	var b strings.Builder
	pos := 0
	for _, m := range marks {
		n := numbers[strings.ToLower(text[m[2]:m[3]])]
		if n == 0 || text[m[0]+1] != '^' {
			continue
		}
		names[n] = text[m[2]:m[3]]
		b.WriteString(text[pos:m[2]] + strconv.Itoa(n))
		pos = m[3]
	}
	return b.String() + text[pos:], names
}

func isNoteNumber(name string) bool {
	return len(name) <= 4 && strings.Trim(name, "0123456789") == ""
}
