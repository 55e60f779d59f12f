package history

import (
	"cmp"
	"strings"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
)

// Kinds of rows: how a sentence differs from another report.
const (
	Same      = "same"
	Changed   = "changed"
	New       = "new"
	Withdrawn = "withdrawn"
)

// Part is a section of the newer of two reports, with the corresponding text of the older one.
type Part struct {
	Title string // empty: before the first section
	Level int    // heading level, from 2
	Rows  []Row
}

// Row is a sentence, list item or table row. Adjacent unchanged sentences share a row.
type Row struct {
	Kind     string
	Old, New string // plain text; unchanged text is in New only
	Count    int    // number of sentences
}

// Compare aligns the bodies of two reports in Markdown without citations. Text that is only in the older report is
// placed where its former neighbours are now. Never fails.
func Compare(old, now string) []Part {
	a, b, d := text.Units(old), text.Units(now), text.Align(old, now)
	instead, fresh, lost := map[int]text.Unit{}, map[int]bool{}, map[int]bool{} // by the start of the unit
	from, to := map[int]int{}, map[int]int{}                                    // index in b, by index in a
	for i, u := range a {
		from[u.Start] = i
	}
	for _, p := range d.Changed {
		instead[p.New.Start] = p.Old
	}
	for _, u := range d.New {
		fresh[u.Start] = true
	}
	for _, u := range d.Withdrawn {
		lost[u.Start] = true
	}
	places := map[uint64][]int{}
	for i, u := range a {
		places[u.Mark] = append(places[u.Mark], i)
	}
	for j, u := range b {
		if was, ok := instead[u.Start]; ok {
			to[from[was.Start]] = j
		} else if at := places[u.Mark]; len(at) > 0 {
			to[at[0]], places[u.Mark] = j, at[1:]
		}
	}
	after, last := map[int][]text.Unit{}, -1
	for i, u := range a {
		if j, ok := to[i]; ok {
			last = j
		} else if lost[u.Start] {
			after[last] = append(after[last], u)
		}
	}
	c := comparison{parts: []Part{{}}}
	gone := func(j int) {
		for _, u := range after[j] {
			c.add(Row{Kind: Withdrawn, Old: plain(old[u.Start:u.End]), Count: 1})
		}
	}
	gone(-1)
	for j, u := range b {
		row := Row{Kind: Same, New: plain(now[u.Start:u.End]), Count: 1}
		if level := headingLevel(now, u.Start); level > 0 {
			c.parts = append(c.parts, Part{Title: row.New, Level: level})
			gone(j)
			continue
		}
		if was, ok := instead[u.Start]; ok {
			row.Kind, row.Old = Changed, plain(old[was.Start:was.End])
		} else if fresh[u.Start] {
			row.Kind = New
		}
		c.add(row)
		gone(j)
	}
	if len(c.parts[0].Rows) == 0 {
		c.parts = c.parts[1:]
	}
	return c.parts
}

type comparison struct{ parts []Part }

func (c *comparison) add(row Row) {
	if !strings.ContainsFunc(row.Old+row.New, text.LetterOrDigit) {
		return // a dash or an ornament
	}
	part := &c.parts[len(c.parts)-1]
	if n := len(part.Rows); n > 0 && row.Kind == Same && part.Rows[n-1].Kind == Same {
		part.Rows[n-1].New += " " + row.New
		part.Rows[n-1].Count++
		return
	}
	part.Rows = append(part.Rows, row)
}

// headingLevel returns the level of the heading that begins at byte start of Markdown; 0: none.
func headingLevel(s string, start int) int {
	before := strings.TrimSpace(s[strings.LastIndexByte(s[:start], '\n')+1 : start])
	if strings.Trim(before, "#") != "" {
		return 0
	}
	return len(before)
}

// plain returns a piece of Markdown as a reader sees it, on one line. Cells of a table row are separated by dots.
func plain(s string) string {
	line := cmp.Or(report.Text(s), text.Line(s))
	if cells := strings.Trim(line, "| "); strings.HasPrefix(line, "|") {
		return strings.ReplaceAll(cells, " | ", " · ")
	}
	return line
}
