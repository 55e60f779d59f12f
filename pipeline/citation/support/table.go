package support

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// cell is where a quantity stands in a table.
type cell struct {
	table, row, column int
	label, head        map[string]bool // anchors of its row's cells without figures, and of its column's head without a unit
}

// tableLine names a row of a table, or with row 0 a column.
type tableLine struct{ table, row, column int }

// maxRows bounds the rows of a table that are held against each other.
const maxRows = 200

// proseCell is the number of words from which a cell tells something, and is no value of its column.
const proseCell = 4

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
				if column < len(cells) && len(strings.Fields(cells[column])) > proseCell {
					continue
				}
				c := cell{table: table, row: row, column: column, label: map[string]bool{}, head: anchorsOf(withoutUnit(heads[column]), st)}
				for i, text := range cells {
					if i != column && (i == 0 || !strings.ContainsAny(text, "0123456789")) {
						maps.Copy(c.label, anchorsOf(text, st))
					}
				}
				t.cells[p.Start] = c
				for _, l := range [2]tableLine{{table, row, 0}, {table, 0, column}} {
					t.lines[l] = append(t.lines[l], at)
				}
				if column == 0 {
					continue
				}
				for _, place := range []string{heads[column], sameYears(heads, column), cells[0], above} {
					if u, ok := unitIn(place); ok {
						scale(&p.Quantity, u)
						break
					}
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

// sameYears returns the first head of a row of years, which alone may have the unit: 2023 (kt), 2030, 2040.
func sameYears(heads []string, column int) string {
	if !yearIn.MatchString(heads[column]) {
		return ""
	}
	for _, head := range heads[:column] {
		if yearIn.MatchString(head) {
			return head
		}
	}
	return ""
}

var yearIn = regexp.MustCompile(`\b(19|20)\d\d\b`)

// withoutUnit cuts the unit in brackets off a head.
func withoutUnit(head string) string {
	for _, open := range []string{"(", "（"} {
		if at := strings.LastIndex(head, open); at > 0 {
			return head[:at]
		}
	}
	return head
}

// anchorsOf returns the anchors of a cell.
func anchorsOf(s string, st stems) map[string]bool {
	words := st.words(s)
	out := anchorsIn(s, words, 0, len(s), nil)
	addOrder(out, words)
	return out
}

// addOrder takes in the words that tell two columns apart and mean little elsewhere.
func addOrder(to map[string]bool, words []word) {
	for _, w := range words {
		switch w.low {
		case "before", "after", "vorher", "nachher", "vor", "nach":
			to[w.low] = true
		}
	}
}

// misplacedCell is misplaced for a table: another value of the column stands in the row that the sentence names, or another
// one of the row in the column that it names.
func (t *text) misplacedCell(s *statement, q quantity.Quantity, p placed, c cell, around surroundings) bool {
	noun := nounBehind(s.words, q.End)
	for _, line := range [2]tableLine{{c.table, 0, c.column}, {c.table, c.row, 0}} {
		for _, i := range t.lines[line] {
			o := t.quantities[i]
			if o.Start == p.Start || line.column == 0 && (q.Kind == quantity.Date || c.head[noun] && !t.cells[o.Start].head[noun] || !alikeKind(p.Quantity, o.Quantity)) || agree(q, o.Quantity, s.text[q.Start:q.End], o.raw) != apart {
				continue
			}
			own, their, said := c.label, t.cells[o.Start].label, around.sentence
			if line.column == 0 {
				own, their = c.head, t.cells[o.Start].head
				if around.contrast {
					said = around.all // what the sentence has two values for
				}
			}
			if q.Kind == quantity.Date && !covers(said, without(their, own)) {
				continue
			}
			if around.names(their, own, said) {
				return true
			}
		}
	}
	return false
}

// names reports that a sentence names the row, or the column, with the anchors their, and not the one with the anchors own.
func (around surroundings) names(their, own, said map[string]bool) bool {
	onlyTheir, onlyOwn := without(their, own), without(own, their)
	switch {
	case len(onlyOwn) == 0:
		return len(onlyTheir) > 0 && covers(said, onlyTheir)
	case covers(around.sentence, onlyOwn): // both: which one stands closer
		return len(onlyTheir) > 0 && covers(around.all, onlyTheir) && len(shared(onlyOwn, around.all)) == 0
	case len(shared(onlyOwn, around.sentence)) > 0:
		return false
	case len(onlyTheir) == 0:
		return len(their) > 0 && covers(said, their)
	}
	return len(shared(onlyTheir, said)) > 0
}

// unitName returns what stands in the last brackets of a head, or behind its last comma, without an "in".
func unitName(head string) string {
	head = strings.TrimRight(head, " :.\t\r\n")
	head = strings.NewReplacer("（", " (", "）", ")").Replace(head)
	name := ""
	if open := strings.LastIndexByte(head, '('); open >= 0 && strings.HasSuffix(head, ")") {
		name = head[open+1 : len(head)-1]
	} else if comma := strings.LastIndex(head, ", "); comma >= 0 {
		name = head[comma+2:]
	}
	name, _, _ = strings.Cut(name, " of ") // % of readers
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
	if code, rest, ok := strings.Cut(name, " "); ok && len(code) == 3 { // NOK m
		spellings = append(spellings, code+" 1"+rest)
	}
	for i := len(spellings) - 1; i >= 0; i-- {
		if found := quantity.Parse(spellings[i]); len(found) == 1 && found[0].Start == 0 && hanOnly(spellings[i][found[0].End:]) && found[0].Low != 0 &&
			found[0].Kind != quantity.Date && found[0].Kind != quantity.Label && (found[0].Kind != quantity.Number || found[0].Low != 1) {
			return found[0], true
		}
	}
	return quantity.Quantity{}, false
}

// hanOnly reports a text of Han characters or none, such as 人次 in 万人次.
func hanOnly(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !wide(r) }) < 0
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
