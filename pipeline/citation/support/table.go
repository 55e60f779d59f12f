package support

import "strings"

// rowText returns a table row with the units of its header row added.
func rowText(row, head string) string {
	heads, cells := cellsOf(head), cellsOf(row)
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		if v := valuesOf(cell); i < len(heads) && len(v) == 1 && v[0].text == cell {
			v[0].under(heads[i])
			cell = v[0].text
		}
		cells[i] = cell
	}
	return strings.Join(cells, " | ")
}

// under gives a bare number the unit and magnitude in brackets at the end of its column's header: Freight (Mt).
func (v *value) under(head string) {
	unit := inBrackets(head)
	if !v.bare() || unit == "" {
		return
	}
	text := v.text + " " + unit
	if sign := strings.IndexAny(unit, "$€£¥"); sign >= 0 {
		rest := strings.TrimLeft(unit[sign:], "$€£¥")
		text = unit[:len(unit)-len(rest)] + v.text + strings.TrimSpace(rest)
	}
	if stated := valuesOf(text); len(stated) == 1 && !stated[0].bare() {
		start, end := v.Start, v.End
		v.Quantity, v.text = stated[0].Quantity, text
		v.Start, v.End = start, end
	}
}

// inBrackets returns the bracketed text at the end of s, or "".
func inBrackets(s string) string {
	s = strings.Trim(strings.NewReplacer("（", "(", "）", ")").Replace(s), "*_:. \n")
	open := strings.LastIndexByte(s, '(')
	if open < 0 || !strings.HasSuffix(s, ")") {
		return ""
	}
	return s[open+1 : len(s)-1]
}

// cellsOf splits a table row into its cells.
func cellsOf(line string) []string {
	return strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
}
