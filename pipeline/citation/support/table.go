package support

import (
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// cell is where a quantity stands in a table.
type cell struct {
	table, row, column int
	anchors, head      map[string]bool // words of its row's first cell and of its column's head; only of the head
}

// tableLine names a row of a table, or with row 0 a column.
type tableLine struct{ table, row, column int }

// maxRows bounds the rows of a table that are held against each other.
const maxRows = 200

// readTables finds the quantities that stand in tables: lines of cells between bars, the first of them heads. What a head
// or the line above says in brackets, such as (£m), is the unit of the bare numbers below it.
func (t *text) readTables(st stems) {
	t.cells, t.lines = map[int]cell{}, map[tableLine][]int{}
	at, table, row := 0, 0, 0
	var heads []string
	above := ""
	for start := 0; start < len(t.Text); {
		end := len(t.Text)
		if n := strings.IndexByte(t.Text[start:], '\n'); n >= 0 {
			end = start + n + 1
		}
		line := t.Text[start:end]
		cells := cellsOf(line)
		switch {
		case len(cells) < 2:
			heads = nil
			if strings.TrimSpace(line) != "" {
				above = line
			}
		case heads == nil:
			heads, table, row = cells, table+1, 0
			for i, _ := slices.BinarySearchFunc(t.quantities, start, func(p placed, b int) int { return p.Start - b }); i < len(t.quantities) && t.quantities[i].Start < end; i++ {
				t.cells[t.quantities[i].Start] = cell{} // of no row
			}
		case strings.Trim(line, "|-: \t\r\n") == "":
		default:
			row++
			for at < len(t.quantities) && t.quantities[at].Start < start {
				at++
			}
			for ; at < len(t.quantities) && t.quantities[at].Start < end && row < maxRows; at++ {
				p := &t.quantities[at]
				column := strings.Count(strings.TrimLeft(line[:p.Start-start], " \t|"), "|")
				if column >= len(heads) {
					continue
				}
				c := cell{table: table, row: row, column: column, anchors: map[string]bool{}, head: map[string]bool{}}
				for _, w := range st.words(heads[column]) {
					addAnchor(c.head, w)
					addAnchor(c.anchors, w)
				}
				for i, text := range cells {
					if i != 0 && strings.ContainsAny(text, "0123456789") {
						continue
					}
					for _, w := range st.words(text) {
						if column > 0 || !w.number() {
							addAnchor(c.anchors, w)
						}
					}
				}
				t.cells[p.Start] = c
				for _, l := range [2]tableLine{{table, row, 0}, {table, 0, column}} {
					t.lines[l] = append(t.lines[l], at)
				}
				if column == 0 {
					continue
				}
				if u, ok := unitIn(heads[column]); ok {
					scale(&p.Quantity, u)
				} else if u, ok := unitIn(above); ok {
					scale(&p.Quantity, u)
				}
			}
		}
		start = end
	}
}

// escapedBar stands for a bar that is no border of a cell.
const escapedBar = "\x00"

// cellsOf cuts a line at its bars.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.Contains(line, "|") {
		return nil
	}
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(line, `\|`, escapedBar), "|"), "|"), "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(c, escapedBar, `\|`))
	}
	return cells
}

// unitName returns what stands in the last brackets of a head, or behind its last comma, without an "in".
func unitName(head string) string {
	head = strings.TrimRight(head, " :.\t\r\n")
	name := ""
	if open := strings.LastIndexByte(head, '('); open >= 0 && strings.HasSuffix(head, ")") {
		name = head[open+1 : len(head)-1]
	} else if comma := strings.LastIndex(head, ", "); comma >= 0 {
		name = head[comma+2:]
	}
	return strings.TrimPrefix(strings.TrimSpace(name), "in ")
}

// currency cuts the sign of a currency from the name of a unit: £ and m of £m.
func currency(name string) (sign, rest string) {
	i := strings.IndexAny(name, "$€£¥")
	if i < 0 {
		return "", name
	}
	end := i + 1
	for end < len(name) && name[end] >= 0x80 {
		end++
	}
	return name[:end], strings.TrimSpace(name[end:])
}

// unitIn reads the unit that a head names.
func unitIn(head string) (quantity.Quantity, bool) {
	name := unitName(head)
	if name == "" || len(name) > 24 || strings.ContainsAny(name, "0123456789") {
		return quantity.Quantity{}, false
	}
	spellings := []string{"1 " + name}
	if sign, rest := currency(name); sign != "" {
		spellings = append(spellings, sign+"1"+rest)
	}
	for i := len(spellings) - 1; i >= 0; i-- {
		if found := quantity.Parse(spellings[i]); len(found) == 1 && found[0].Start == 0 && found[0].End == len(spellings[i]) && found[0].Low != 0 &&
			found[0].Kind != quantity.Date && found[0].Kind != quantity.Label && (found[0].Kind != quantity.Number || found[0].Low != 1) {
			return found[0], true
		}
	}
	return quantity.Quantity{}, false
}

// scale gives a bare number the unit of its head.
func scale(q *quantity.Quantity, u quantity.Quantity) {
	if q.Kind == quantity.Date && q.To.Zero() && q.When.Month == 0 && q.Low > 0 {
		q.Kind = quantity.Number
	}
	if q.Kind != quantity.Number || u.Unit == "K" {
		return
	}
	q.Kind, q.Unit, q.Low, q.High, q.Round = u.Kind, u.Unit, q.Low*u.Low, q.High*u.Low, q.Round*u.Low
}

// addAnchor takes in a word by its stem, a number as it is written.
func addAnchor(to map[string]bool, w word) {
	if w.number() {
		to[strings.Trim(w.low, ".,")] = true
	} else if term := w.term(); term != "" && !spans[w.low] {
		to[term] = true
	}
}
