package document

import (
	"slices"
	"strings"
)

// Limits of a table: columns, bytes that spans repeat, and cells, beyond which nothing spans.
const (
	maxColumns  = 1000
	maxRepeated = 1 << 20
	maxGrid     = 4 << 20
)

// After longTable bytes, the header rows of a table are repeated, so that every passage includes them; header rows of
// more than maxHeader bytes are not.
const (
	longTable = 900
	maxHeader = 300
)

// Table collects the cells of a table as a full grid. A cell that spans columns or rows stands in each of them, because
// a passage may hold one row, and no value may stand under another heading. The zero value is an empty table.
type Table struct {
	rows     []tableRow
	down     []int // by column: rows that the last cell still spans
	headers  int   // rows that a cell of the first row spans
	repeated int
	size     int
}

type tableRow struct {
	cells []string
	own   int // cells that begin in it
}

// Row begins a row.
func (t *Table) Row() {
	t.fill()
	t.rows = append(t.rows, tableRow{})
}

// Cell adds a cell to the current row, behind the columns that cells above span.
func (t *Table) Cell(text string, columns, rows int) {
	if len(t.rows) == 0 {
		t.Row()
	}
	t.fill()
	r := &t.rows[len(t.rows)-1]
	r.own++
	rows = max(rows, 1)
	if len(t.rows) == 1 {
		t.headers = max(t.headers, rows)
	}
	if t.size > maxGrid {
		columns, rows = 1, 1
	}
	for i := range max(columns, 1) {
		at := len(r.cells)
		if at == maxColumns {
			return
		}
		if i > 0 {
			if text = t.again(text); t.repeated > maxRepeated {
				return
			}
		}
		r.cells = append(r.cells, text)
		t.size++
		for len(t.down) <= at {
			t.down = append(t.down, 0)
		}
		t.down[at] = rows - 1
	}
}

// Above adds columns that continue the cells above.
func (t *Table) Above(columns int) {
	if len(t.rows) == 0 {
		t.Row()
	}
	for range min(max(columns, 1), maxColumns) {
		if at := len(t.rows[len(t.rows)-1].cells); at < len(t.down) {
			t.down[at]++
		} else {
			t.Cell("", 1, 1)
		}
		if len(t.rows) == t.headers+1 {
			t.headers++
		}
		t.fill()
	}
}

// Headers states that the first n rows are headers.
func (t *Table) Headers(n int) { t.headers = max(t.headers, n) }

// fill adds the columns that cells above span.
func (t *Table) fill() {
	n := len(t.rows)
	if n == 0 {
		return
	}
	r := &t.rows[n-1]
	for at := len(r.cells); at < len(t.down) && t.down[at] > 0 && t.repeated <= maxRepeated; at++ {
		t.down[at]--
		text := ""
		if n > 1 && at < len(t.rows[n-2].cells) {
			text = t.again(t.rows[n-2].cells[at])
		}
		r.cells = append(r.cells, text)
		t.size++
	}
}

// again returns a text that is repeated, or "" if that is too much.
func (t *Table) again(text string) string {
	if t.repeated += len(text) + 1; t.repeated > maxRepeated {
		return ""
	}
	return text
}

// Rows returns the rows of the grid. A row that is one cell across the table is that cell.
func (t *Table) Rows() (rows [][]string) {
	t.fill()
	for _, r := range t.rows {
		if r.own == 1 && !slices.ContainsFunc(r.cells, func(c string) bool { return c != r.cells[0] }) {
			r.cells = r.cells[:1]
		}
		rows = append(rows, r.cells)
	}
	return rows
}

// Write writes the table. A table with one column is a frame around text, and a row of one cell above the others is the
// caption.
func (t *Table) Write(b *Builder) {
	rows := t.Rows()
	columns := 0
	for _, r := range rows {
		columns = max(columns, len(r))
	}
	for len(rows) > 0 && (columns < 2 || len(rows[0]) < 2) {
		for _, text := range rows[0] {
			b.Paragraph(text)
		}
		rows = rows[1:]
		t.headers--
	}
	if len(rows) == 0 {
		return
	}
	header := rows[:min(max(t.headers, 1), len(rows))]
	long := IsHeader(rows[0]) && len(strings.Join(slices.Concat(header...), " ")) <= maxHeader
	begin := b.Len()
	for i, r := range rows {
		if long && i >= len(header) && b.Len()-begin > longTable {
			b.EndTable()
			begin = b.Len()
			for _, h := range header {
				b.Row(slices.Clone(h))
			}
		}
		b.Row(r)
	}
	b.EndTable()
}

// IsHeader reports whether a first row names the columns: no field is empty or a number.
func IsHeader(row []string) bool {
	return !slices.ContainsFunc(row, func(field string) bool {
		return strings.TrimSpace(strings.Trim(field, "0123456789.,%+-$€£ ")) == ""
	})
}

// Raised returns a raised text as it is written behind the text before it: 10⁶ becomes 10^6, never 106.
func Raised(before, text string) string {
	number := strings.TrimLeft(text, "-−–")
	if number == text && strings.Trim(text[:min(1, len(text))], "0123456789") != "" {
		return text
	}
	if text == "" || before == "" || before[len(before)-1] <= ' ' {
		return text
	}
	return "^" + text
}
