package support

import (
	"slices"
	"strings"
	"unicode"
)

// Context is the text above a passage that a reader needs to understand it.
type Context struct {
	Headings []string // headings above it, from the top down
	Above    string   // lines above its table or list, and the table's header row, that the passage does not include
}

// maxContext is the maximum length of a context line in bytes.
const maxContext = 300

// Context returns the context of a span.
func (c *Corpus) Context(s Span) Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	docs := c.documents([]string{s.Source})
	if len(docs) == 0 || len(docs[0].units) == 0 {
		return Context{}
	}
	d := docs[0]
	first := d.unitAt(s.Start)
	for first+1 < len(d.units) && d.units[first].end <= s.Start {
		first++
	}
	u := d.units[first]
	out := Context{Headings: d.headingsAbove(first)}
	if !u.row && !u.item || u.start < s.Start {
		return out
	}
	if lead := d.units[u.lead]; u.lead < first && lead.level == 0 {
		if line := d.line(u.lead); strings.ContainsFunc(line, unicode.IsLetter) { // not just an item number
			out.Above = line + "\n"
		}
	}
	if top := d.topRow(first); u.row && top < first {
		out.Above += d.line(top) + "\n"
	}
	if out.Above != "" {
		out.Above += "[…]\n"
	}
	return out
}

// headingsAbove returns the headings above a unit, from the top down.
func (d *document) headingsAbove(at int) []string {
	var out []string
	level := len("######") + 1
	for i := at - 1; i >= 0 && level > 1; i-- {
		if u := d.units[i]; u.level > 0 && u.level < level {
			level = u.level
			out = append(out, d.line(i))
		}
	}
	slices.Reverse(out)
	return out
}

// topRow returns the header row of the row's table.
func (d *document) topRow(row int) int {
	for d.follows(row) {
		row--
	}
	return row
}

// follows reports whether a row follows another one of its table.
func (d *document) follows(row int) bool {
	if row == 0 || !d.units[row-1].row {
		return false
	}
	return !strings.Contains(d.Text[d.units[row-1].end:d.units[row].start], "\n\n")
}

func (d *document) line(unit int) string {
	u := d.units[unit]
	line := strings.Join(strings.Fields(d.Text[u.start:u.end]), " ")
	return strings.ToValidUTF8(line[:min(len(line), maxContext)], "")
}
