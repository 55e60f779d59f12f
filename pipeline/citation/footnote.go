package citation

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	namedNote   = regexp.MustCompile(`^ {0,3}\[\^([^\[\]\s^]{1,80})\]:`)
	bracketed   = regexp.MustCompile(`[\[【][^\[\]【】\n]{1,80}[\]】]`)
	noteNumber  = regexp.MustCompile(`^[0-9]{1,4}$`)
	numberIn    = regexp.MustCompile(`[0-9]+`)
	noteMarker  = regexp.MustCompile(`\[\^([^\[\]\s^]{1,80})\]`)
	noteAddress = regexp.MustCompile(`(?i)(?:https?://|www\.)[^\s<>"` + "`" + `]+`)
	visited     = regexp.MustCompile(`(?i)^[\s,;.()\[\]]*(?:last |date |zuletzt )?` +
		`(?:access|retriev|visit|view|archiv|abgerufen|aufgerufen|consult|besucht|stand)`)
)

// renameNotes renames footnotes so that each number means one thing. A footnote that says where something stands is a
// citation: it gets a number above all that the text has if it has a name, [^smith2020], or the number of an entry of a
// list. Where a text cites by a list, a footnote [^1] that is a remark gets a name, [^note-1]. names has the old names
// by new number.
func (t *reading) renameNotes() (renamed *reading, names map[int]string) {
	if !strings.Contains(t.text, "]:") || !strings.Contains(t.text, "[^") {
		return t, nil
	}
	listed, isCited := t.listedNumbers()
	marks := noteMarker.FindAllStringSubmatchIndex(t.text, -1)
	taken := map[string]bool{}
	for _, m := range marks {
		taken[t.text[m[2]:m[3]]] = true
	}
	to := map[string]string{} // new names by folded old one; "": it stays
	names = map[int]string{}
	top := 0
	for i, l := range t.all {
		m := namedNote.FindStringSubmatch(l.of(t.text))
		if m == nil || l.code {
			continue
		}
		name := strings.ToLower(m[1])
		if _, known := to[name]; known { // the first footnote of a name counts
			continue
		}
		to[name] = ""
		note, isNumber := t.noteText(i, len(m[0])), noteNumber.MatchString(name)
		switch isRemark := isCited && t.r.isRemark(note); {
		case isRemark && isNumber:
			for to[name] = "note-" + name; taken[to[name]]; {
				to[name] += "a"
			}
		case !isRemark && (!isNumber || listed[name]) && t.r.hasTarget(note):
			if top == 0 {
				top = t.topNumber(listed)
			}
			top++
			to[name], names[top] = strconv.Itoa(top), m[1]
		}
	}
	var changes []change
	for _, m := range marks {
		if name := to[strings.ToLower(t.text[m[2]:m[3]])]; name != "" {
			changes = append(changes, change{m[2], m[3], name})
		}
	}
	return t.changed(outsideCode(t.text, changes)), names
}

// topNumber returns the highest number of all list entries and markers, including ranges such as [1, 3-5].
func (t *reading) topNumber(listed map[string]bool) int {
	top := 0
	for number := range listed {
		n, _ := strconv.Atoi(number)
		top = max(top, n)
	}
	for _, marker := range bracketed.FindAllString(t.text, -1) {
		for _, number := range numberIn.FindAllString(marker, -1) {
			if n, err := strconv.Atoi(number); err == nil && n < 1000 {
				top = max(top, n)
			}
		}
	}
	return top
}

// listedNumbers returns the numbers of the list entries that are no footnotes, and whether one of them that stands
// below a heading leads somewhere.
func (t *reading) listedNumbers() (listed map[string]bool, leads bool) {
	listed = map[string]bool{}
	for _, s := range t.lists() {
		for _, e := range s.entries {
			if !namedNote.MatchString(t.text[e.start:e.end]) {
				listed[strconv.Itoa(e.number)] = true
				leads = leads || s.start >= 0 && t.r.hasTarget(t.text[e.body:e.end])
			}
		}
	}
	return listed, leads
}

// noteText returns the text of the footnote at line i, starting at a byte of that line.
func (t *reading) noteText(i, from int) string {
	said := t.line(i)[from:]
	for _, next := range t.all[i+1 : min(len(t.all), i+4)] { // an address may have a line of its own
		line := next.of(t.text)
		if strings.TrimSpace(line) == "" || namedNote.MatchString(line) {
			break
		}
		said += " " + strings.TrimSpace(line)
	}
	return said
}
