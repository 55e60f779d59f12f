package view

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table prints rows as aligned columns or, with --json, one document per row.
type Table struct {
	con  *Console
	w    *tabwriter.Writer
	head []string // not printed yet; a table without rows has none
}

// NewTable returns a table with these column headings.
func NewTable(con *Console, head ...string) *Table {
	return &Table{con, tabwriter.NewWriter(con.Out, 0, 4, 2, ' ', 0), head}
}

// Row adds a row: with --json the document, else its cells.
func (t *Table) Row(document any, cells ...any) error {
	if t.con.JSON {
		return t.con.PrintJSON(document, true)
	}
	if t.head != nil {
		fmt.Fprintln(t.w, strings.Join(t.head, "\t"))
		t.head = nil
	}
	_, err := fmt.Fprintf(t.w, strings.Repeat("%v\t", len(cells)-1)+"%v\n", cells...)
	return err
}

// End prints the rows.
func (t *Table) End() error { return t.w.Flush() }
