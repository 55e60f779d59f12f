package citation

import (
	"regexp"
	"strings"
)

var (
	numberedNote = regexp.MustCompile(`^ {0,3}\[\^([0-9]{1,4})\]:`)
	noteAddress  = regexp.MustCompile(`(?i)(?:https?://|www\.)[^\s<>"` + "`" + `]+`)
	visited      = regexp.MustCompile(`(?i)^[\s,;.()\[\]]*(?:last |date |zuletzt )?(?:access|retriev|visit|view|archiv|abgerufen|aufgerufen|consult|besucht|stand)`)
)

// nameRemarks gives the footnotes that are remarks names, [^note-1], where a text cites by a list of references: their
// numbers are none of that list. A footnote that says where something stands is a citation, see isRemark.
func (t *reading) nameRemarks() *reading {
	text := t.text
	if !strings.Contains(text, "[^") || !strings.Contains(text, "]:") || !t.hasList() {
		return t
	}
	remarks := map[string]bool{} // by number, of the first footnote that has it
	some := false
	for i, l := range t.all {
		m := numberedNote.FindStringSubmatch(l.of(text))
		if m == nil || l.code {
			continue
		}
		if _, known := remarks[m[1]]; !known {
			remarks[m[1]] = t.r.isRemark(t.noteText(i, len(m[0])))
			some = some || remarks[m[1]]
		}
	}
	if !some {
		return t
	}
	markers := noteMarker.FindAllStringSubmatchIndex(text, -1)
	taken := map[string]bool{}
	for _, m := range markers {
		taken[text[m[2]:m[3]]] = true
	}
	code := t.code
	var b strings.Builder
	pos := 0
	for _, m := range markers {
		for len(code) > 0 && code[0].end <= m[0] {
			code = code[1:]
		}
		name := text[m[2]:m[3]]
		if len(code) > 0 && code[0].start <= m[0] || text[m[0]+1] != '^' || !remarks[name] {
			continue
		}
		name = "note-" + name
		for taken[name] {
			name += "a"
		}
		b.WriteString(text[pos:m[2]] + name)
		pos = m[3]
	}
	return t.changed(b.String() + text[pos:])
}

// noteText returns what the footnote says that begins at line i, from a byte of that line on.
func (t *reading) noteText(i, from int) string {
	said := t.all[i].of(t.text)[from:]
	for _, next := range t.all[i+1 : min(len(t.all), i+4)] { // an address may have a line of its own
		line := next.of(t.text)
		if strings.TrimSpace(line) == "" || namedNote.MatchString(line) {
			break
		}
		said += " " + strings.TrimSpace(line)
	}
	return said
}

// isRemark reports whether a footnote remarks on something: it leads nowhere, or has an address in the midst of a
// sentence.
func (r *Registry) isRemark(note string) bool {
	if !hasAddress(note) {
		return !r.hasTarget(note)
	}
	found := noteAddress.FindAllStringIndex(note, -1)
	if len(found) == 0 {
		return false
	}
	before, after := note[:found[0][0]], note[found[len(found)-1][1]:]
	return len(strings.Fields(before)) >= 5 && len(strings.Fields(after)) >= 2 && !visited.MatchString(after)
}

// hasList reports whether a text has a list of references whose entries, or some of them, are no footnotes and lead
// somewhere.
func (t *reading) hasList() bool {
	for _, s := range t.lists() {
		for _, e := range s.entries {
			if s.start >= 0 && !namedNote.MatchString(t.text[e.start:e.end]) && t.r.hasTarget(t.text[e.body:e.end]) {
				return true
			}
		}
	}
	return false
}
