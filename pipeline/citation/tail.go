package citation

import (
	"regexp"
	"strconv"
	"strings"
)

// tail returns the line at which the list begins that ends a text without a heading for its references, and the number of
// lines where there is none. Entries with labels such as [1] each lead somewhere. A numbered list, which may be one of other
// things, counts from 1, has an address in each item, and the text above it cites by its numbers.
func (t *reading) tail() int {
	at, count := len(t.all), 0
	var top entryPrefix
	target, address := false, false // of the lines below the entry that comes next
	for i := len(t.all) - 1; i >= 0; i-- {
		line := t.all[i].of(t.text)
		if strings.TrimSpace(line) == "" {
			continue
		}
		pre, ok := t.start(i)
		if !ok && (strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") || isOnlyAddress(line)) && !t.all[i].code {
			target, address = target || t.leads(i), address || hasAddress(line)
			continue // goes on with the entry above
		}
		isEntry := pre.style == bracketStyle && (target || t.leads(i)) || pre.style == orderedStyle && (address || hasAddress(line))
		if !ok || t.all[i].code || !isEntry || count > 0 && (pre.style != top.style || pre.style == orderedStyle && pre.number != top.number-1) {
			break
		}
		at, top, target, address = i, pre, false, false
		if count++; top.style == orderedStyle && top.number == 1 {
			break
		}
	}
	if top.style == orderedStyle && (top.number != 1 || !cites(t.text[:t.all[at].start], count)) {
		return len(t.all)
	}
	return at
}

// marked is a number in brackets, alone or the first of several.
var marked = regexp.MustCompile(`[\[【［]\^?([0-9]{1,3})[\]】］,;†–-]`)

// cites reports whether a text has a marker with a number from 1 to most.
func cites(text string, most int) bool {
	for _, m := range marked.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= most {
			return true
		}
	}
	return false
}
