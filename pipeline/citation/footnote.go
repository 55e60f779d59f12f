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
	bracketed  = regexp.MustCompile(`[\[【][^\[\]【】\n]{1,80}[\]】]`)
	numberIn   = regexp.MustCompile(`[0-9]+`)
	noteMarker = regexp.MustCompile(`\[\^?([^\[\]\s^]{1,80})\]`)
)

// numberNotes gives footnotes with names, [^smith2020], numbers above all that the text has, where they lead somewhere;
// remarks keep their names. So it does with a footnote [^1] beside a list that has a 1 of its own: [1] is not [^1]
// then. names has the names by number.
func (t *reading) numberNotes() (numbered *reading, names map[int]string) {
	text := t.text
	if !strings.Contains(text, "]:") || !strings.Contains(text, "[^") {
		return t, nil
	}
	cites := sync.OnceValue(t.hasList)
	listed := t.listedNumbers()
	numbers := map[string]int{} // 0: stays
	var order []string
	for i, l := range t.all {
		m := namedNote.FindStringSubmatch(l.of(text))
		if m == nil || l.code || isNoteNumber(m[1]) && !listed[m[1]] {
			continue
		}
		if _, known := numbers[strings.ToLower(m[1])]; known { // the first footnote of a name counts
			continue
		}
		numbers[strings.ToLower(m[1])] = 0
		if note := t.noteText(i, len(m[0])); t.r.hasTarget(note) && !(t.r.isRemark(note) && cites()) {
			order = append(order, strings.ToLower(m[1]))
		}
	}
	if len(order) == 0 {
		return t, nil
	}
	code := t.code
	marks := noteMarker.FindAllStringSubmatchIndex(text, -1)
	marks = slices.DeleteFunc(marks, func(m []int) bool {
		for len(code) > 0 && code[0].end <= m[0] {
			code = code[1:]
		}
		return len(code) > 0 && code[0].start <= m[0]
	})
	top := 0
	for number := range listed {
		n, _ := strconv.Atoi(number)
		top = max(top, n)
	}
	for _, marker := range bracketed.FindAllString(text, -1) { // [1, 3-5] too
		for _, number := range numberIn.FindAllString(marker, -1) {
			if n, err := strconv.Atoi(number); err == nil && n < 1000 {
				top = max(top, n)
			}
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
	return t.changed(b.String() + text[pos:]), names
}

func isNoteNumber(name string) bool {
	return len(name) <= 4 && strings.Trim(name, "0123456789") == ""
}

// listedNumbers returns the numbers that entries of lists have.
func (t *reading) listedNumbers() map[string]bool {
	listed := map[string]bool{}
	for _, s := range t.lists() {
		for _, e := range s.entries {
			if !namedNote.MatchString(t.text[e.start:e.end]) {
				listed[strconv.Itoa(e.number)] = true
			}
		}
	}
	return listed
}
