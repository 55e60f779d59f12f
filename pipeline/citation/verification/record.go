package verification

import (
	"cmp"
	"strconv"
	"strings"
)

// record lists what was found, in the order of the text.
func (v *verifier) record() {
	out := &v.verification
	for i, e := range v.entries {
		number := e.number
		if number == noNumber {
			number = i + 1
		}
		line := v.original(e)
		if e.stays() {
			out.Valid = append(out.Valid, v.valid(e, number, line))
			continue
		}
		out.Removed = append(out.Removed, Removed{Number: number, ID: e.id, Line: line, LineNumber: e.line,
			Reason: e.reason, Detail: e.detail})
	}
	for _, e := range v.added {
		out.Valid = append(out.Valid, v.valid(e, e.final, ""))
	}
}

func (v *verifier) valid(e *entry, number int, line string) Valid {
	s := v.At(e.source)
	c := Valid{Number: number, ID: e.id, Line: line, LineNumber: e.line, Match: e.level, ReportNumber: e.final,
		Source: e.source}
	if s.URL != "" {
		c.URL = &s.URL
	}
	if s.Key != "" {
		c.CitationKey = &s.Key
	}
	return c
}

// merge adds the removals of a later pass, whose numbers are those of the pass before.
func (v *verifier) merge(later *verifier) {
	a, b := &v.verification, &later.verification
	a.BodyURLsRemoved += b.BodyURLsRemoved
	a.BodyURLsReplaced += b.BodyURLsReplaced
	a.UnsafeURLs = append(a.UnsafeURLs, b.UnsafeURLs...)
	label := func(id string, number int) string { return cmp.Or(id, strconv.Itoa(number)) }
	before := map[string]Valid{} // by what the pass before left as the label
	for _, c := range a.Valid {
		before[label(c.ID, c.ReportNumber)] = c
	}
	for _, gone := range b.Removed {
		if c, known := before[label("", gone.Number)]; known && gone.ID == "" {
			gone.Number = c.Number
		}
		a.Removed = append(a.Removed, gone)
	}
	a.Valid = []Valid{}
	for _, c := range b.Valid {
		if old, ok := before[label(c.ID, c.Number)]; ok {
			old.ReportNumber = c.ReportNumber
			c = old
		}
		a.Valid = append(a.Valid, c)
	}
}

// findLines notes on which line of the text as it came each entry begins. The text may have been changed before it was
// read; entries from the first changed one on have no line.
func (v *verifier) findLines(original string) {
	pos, line := 0, 1
	for _, e := range v.entries {
		first, _, _ := strings.Cut(v.original(e), "\n")
		at := e.start
		if original != v.Markdown {
			at = pos + strings.Index(original[pos:], first)
		}
		if at < pos {
			return
		}
		line += strings.Count(original[pos:at], "\n")
		pos, e.line = at, line
	}
}

// original returns an entry as the text had it.
func (v *verifier) original(e *entry) string {
	raw := strings.TrimSpace(v.Markdown[e.start:e.end])
	if name, ok := v.notes[e.number]; ok {
		raw = strings.Replace(raw, "[^"+strconv.Itoa(e.number)+"]", "[^"+name+"]", 1)
	}
	return raw
}
