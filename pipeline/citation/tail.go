package citation

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tail returns the line at which the list begins that ends the lines before until and has no heading that names
// references, and until where there is none. Entries with labels such as [1] each lead somewhere. A numbered list,
// which may be one of other things, counts from 1, has an address in each item, and the text above it cites by its
// numbers.
func (t *reading) tail(until int) int {
	at, count := until, 0
	var top entryPrefix
	target, address := false, false // of the lines below the entry that comes next
	for i := until - 1; i >= 0; i-- {
		line := t.all[i].of(t.text)
		if trimmed := strings.TrimSpace(line); trimmed == "" || count == 0 && strings.HasPrefix(trimmed, "</") {
			continue
		}
		pre, ok := t.start(i)
		if !ok && (strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") || isOnlyAddress(line)) && !t.all[i].code {
			target, address = target || t.leads(i), address || hasAddress(line)
			continue // goes on with the entry above
		}
		isEntry := pre.style == bracketStyle && (target || t.leads(i)) || pre.style == orderedStyle &&
			(address || hasAddress(line))
		if !ok || t.all[i].code || !isEntry || count > 0 && (pre.style != top.style || pre.style == orderedStyle &&
			pre.number != top.number-1) {
			break
		}
		at, top, target, address = i, pre, false, false
		if count++; top.style == orderedStyle && top.number == 1 {
			break
		}
	}
	if top.style == orderedStyle && (top.number != 1 || !t.cites(at, count)) {
		return until
	}
	return at
}

// isCitedList reports whether the lines from first to until are nothing but such a list, and the text above it cites by
// its numbers.
func (t *reading) isCitedList(first, until int) bool {
	for first < until && strings.TrimSpace(t.all[first].of(t.text)) == "" {
		first++
	}
	if first == until {
		return false
	}
	if _, ok := t.start(first); !ok || t.tail(until) != first {
		return false
	}
	return t.cites(first, maxMarked)
}

// marked is a number in brackets, alone or the first of several.
var marked = regexp.MustCompile(`[\[【［]\^?([0-9]{1,3})[\]】］,;†–-]`)

// maxMarked is the highest number that marked finds.
const maxMarked = 999

// cites reports whether the text above line i has a marker with a number from 1 to most.
func (t *reading) cites(i, most int) bool {
	if t.markers == nil {
		t.markers = slices.Repeat([]int{len(t.text)}, maxMarked+1)
		for _, m := range marked.FindAllStringSubmatchIndex(t.text, -1) {
			if n, err := strconv.Atoi(t.text[m[2]:m[3]]); err == nil && n > 0 {
				t.markers[n] = min(t.markers[n], m[0])
			}
		}
		for n := 2; n <= maxMarked; n++ {
			t.markers[n] = min(t.markers[n], t.markers[n-1])
		}
	}
	return t.markers[min(most, maxMarked)] < t.all[i].start
}
