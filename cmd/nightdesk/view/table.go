package view

import (
	"fmt"
	"slices"
	"strings"
)

// Table prints rows as aligned columns or, with --json, one document per row. On a terminal each row is one line, whose
// end is cut.
type Table struct {
	con  *Console
	head []string // of a table with rows
	rows [][]string
}

// NewTable returns a table with these column headings.
func NewTable(con *Console, head ...string) *Table { return &Table{con: con, head: head} }

// Row adds a row: with --json the document, else its cells.
func (t *Table) Row(document any, cells ...any) error {
	if t.con.JSON {
		return t.con.PrintJSON(document, true)
	}
	if t.head != nil {
		t.rows, t.head = append(t.rows, t.head), nil
	}
	var row []string
	for _, cell := range cells {
		row = append(row, fmt.Sprint(cell))
	}
	t.rows = append(t.rows, row)
	return nil
}

// End prints the rows.
func (t *Table) End() error {
	lines, width := Align(t.rows), Width(t.con.Out)
	for i, line := range lines {
		lines[i] = Clip(line, width-1)
	}
	return PrintLines(t.con.Out, lines)
}

// Align returns rows as lines whose cells begin in the same columns.
func Align(rows [][]string) (lines []string) {
	var widths []int
	for _, row := range rows {
		widths = append(widths, slices.Repeat([]int{0}, max(0, len(row)-len(widths)))...)
		for i, cell := range row[:len(row)-1] {
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		last := len(row) - 1
		for i, cell := range row[:last] {
			line.WriteString(Pad(cell, widths[i]) + "  ")
		}
		lines = append(lines, line.String()+row[last])
	}
	return lines
}
