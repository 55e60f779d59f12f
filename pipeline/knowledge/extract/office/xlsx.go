package office

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// Limits of a workbook: cells with text, cells of all tables, and columns.
const (
	maxCells   = 2 << 20
	maxArea    = 8 << 20
	maxColumns = 1000
)

// XLSX extracts a workbook. Each sheet is a section, and its values are as they are shown. Hidden sheets, rows and
// columns are left out. The error wraps ErrDamaged, ErrEncrypted, ErrTooLarge or charset.ErrBinary.
func XLSX(data []byte) (document.Document, error) {
	f, err := openOffice(data, "xlsx")
	if err != nil {
		return document.Document{}, err
	}
	main := f.main("xl/workbook.xml")
	if f.parts[main] == nil {
		return document.Document{}, fmt.Errorf("%w: a zip file without a workbook", charset.ErrBinary)
	}
	w := &workbook{archive: f, b: document.NewBuilder(), epoch: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	targets, kinds := f.related(main)
	var sheets [][2]string // name and part
	err = cmp.Or(
		f.each(main, "workbookPr sheet", func(e *xmltree.Element) {
			if isOn(e.Attr["date1904"]) {
				w.epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			seen := cmp.Or(e.Attr["state"], "visible") == "visible"
			if part := targets[e.Attr["id"]]; seen && f.parts[part] != nil {
				sheets = append(sheets, [2]string{e.Attr["name"], part})
			}
		}),
		f.each(kinds["sharedStrings"], "si", func(e *xmltree.Element) { w.strings = append(w.strings, richText(e)) }),
		w.readStyles(kinds["styles"]))
	for _, s := range sheets {
		if err != nil {
			return document.Document{}, err
		}
		if len(sheets) > 1 || !usualSheet.MatchString(s[0]) {
			w.b.Heading(2, s[0], "")
		}
		err = w.sheet(s[1])
	}
	return w.b.Document(f.properties()), err
}

// usualSheet matches the name that a program gives to a sheet.
var usualSheet = regexp.MustCompile(`^\pL+ ?\d+$`)

// workbook converts the sheets of a workbook.
type workbook struct {
	*archive
	b       *document.Builder
	epoch   time.Time
	strings []string
	styles  []cellStyle
	cells   int // read so far
	area    int // written so far
}

type cellStyle struct {
	format string
	look
}

// readStyles reads how cells are shown.
func (w *workbook) readStyles(name string) error {
	formats := map[string]string{}
	var fonts []look
	return w.each(name, "numFmt fonts cellXfs", func(e *xmltree.Element) {
		switch e.Name {
		case "numFmt":
			formats[e.Attr["numFmtId"]] = e.Attr["formatCode"]
		case "fonts":
			for _, font := range e.All("font") {
				fonts = append(fonts, look{}.with(font))
			}
		case "cellXfs":
			for _, xf := range e.All("xf") {
				id := xf.Attr["numFmtId"]
				style := cellStyle{format: cmp.Or(formats[id], builtinFormats[id])}
				if font := xmltree.Number(xf.Attr["fontId"], 0); font >= 0 && font < len(fonts) {
					style.look = fonts[font]
				}
				style.ground = xf.Attr["fillId"] != "" && xf.Attr["fillId"] != "0"
				w.styles = append(w.styles, style)
			}
		}
	})
}

// richText returns the text of a string, without the pronunciation of its characters.
func richText(e *xmltree.Element) string {
	var text line
	for _, k := range e.Kids {
		switch k.Name {
		case "t":
			text.write(k.Text, look{})
		case "r":
			text.write(k.Child("t").Text, look{ground: true}.with(k.Child("rPr")))
		}
	}
	return text.String()
}

// text returns what a cell shows.
func (w *workbook) text(c *xmltree.Element) string {
	var style cellStyle
	if n := xmltree.Number(c.Attr["s"], -1); n >= 0 && n < len(w.styles) {
		style = w.styles[n]
	}
	if style.unseen() {
		return ""
	}
	v := c.Child("v").Text
	switch c.Attr["t"] {
	case "s":
		if n := xmltree.Number(v, -1); n >= 0 && n < len(w.strings) {
			return w.strings[n]
		}
		return ""
	case "inlineStr":
		return richText(c.Child("is"))
	case "str", "e", "d":
		return v
	case "b":
		return map[string]string{"1": "TRUE", "0": "FALSE"}[v]
	}
	return shown(v, style.format, w.epoch)
}

// sheetRow is a row with text in it; merged: rows that one of its cells spans.
type sheetRow struct {
	number, merged int
	cells          []sheetCell // in order of columns
}

type sheetCell struct {
	column int
	text   string
}

func byColumn(a, b sheetCell) int { return cmp.Compare(a.column, b.column) }

// sheet writes a sheet as tables.
func (w *workbook) sheet(name string) error {
	var rows []sheetRow
	var merges []*xmltree.Element
	var hidden [maxColumns + 1]bool
	last := 0
	err := w.each(name, "col row mergeCell", func(e *xmltree.Element) {
		switch e.Name {
		case "mergeCell":
			merges = append(merges, e)
		case "col":
			if isOn(e.Attr["hidden"]) {
				for c := max(xmltree.Number(e.Attr["min"], 1), 1); c <= min(xmltree.Number(e.Attr["max"], 1), maxColumns); c++ {
					hidden[c] = true
				}
			}
		case "row":
			last = max(last+1, xmltree.Number(e.Attr["r"], 0))
			rows = append(rows, sheetRow{number: last})
			if !isOn(e.Attr["hidden"]) && w.cells < maxCells {
				rows[len(rows)-1].cells = w.row(e, &hidden)
			}
		}
	})
	if w.cells >= maxCells {
		err = cmp.Or(err, fmt.Errorf("%w (%s)", document.ErrTooLarge, name))
	}
	if err != nil {
		return err
	}
	w.merge(rows, merges)
	return w.tables(rows)
}

// row returns the cells of a row that show text.
func (w *workbook) row(e *xmltree.Element, hidden *[maxColumns + 1]bool) (cells []sheetCell) {
	column := 0
	for _, c := range e.All("c") {
		w.cells++
		if at, _ := position(c.Attr["r"]); at > 0 {
			column = at
		} else {
			column++
		}
		if column > maxColumns || hidden[column] {
			continue
		}
		if text := w.text(c); strings.TrimSpace(text) != "" {
			cells = append(cells, sheetCell{column, text})
		}
	}
	slices.SortStableFunc(cells, byColumn)
	return cells
}

// position returns the column and row of a cell such as B12, counted from 1.
func position(cell string) (column, row int) {
	digits := strings.TrimLeft(cell, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	for _, c := range cell[:len(cell)-len(digits)] {
		column = min(column*26+int(c-'A')+1, 1<<20)
	}
	return column, xmltree.Number(digits, 0)
}

// merge repeats the text of merged cells in each row and column, except of a title across a row of its own.
func (w *workbook) merge(rows []sheetRow, merges []*xmltree.Element) {
	widest := 0
	for _, r := range rows {
		if n := len(r.cells); n > 0 {
			widest = max(widest, r.cells[n-1].column)
		}
	}
	for _, m := range merges {
		first, last, _ := strings.Cut(m.Attr["ref"], ":")
		left, top := position(first)
		right, bottom := position(last)
		at, ok := slices.BinarySearchFunc(rows, top, func(r sheetRow, n int) int { return cmp.Compare(r.number, n) })
		if !ok {
			continue
		}
		i := slices.IndexFunc(rows[at].cells, func(c sheetCell) bool { return c.column == left })
		if i < 0 || len(rows[at].cells) == 1 && top == bottom {
			continue
		}
		cell := rows[at].cells[i]
		rows[at].merged = max(rows[at].merged, bottom-top+1)
		for n := at; n < len(rows) && rows[n].number <= bottom && w.cells < maxCells; n++ {
			w.cells++
			if len(rows[n].cells) == 0 { // hidden or empty
				continue
			}
			var filled []sheetCell
			for column := left; column <= min(right, widest); column++ {
				filled = append(filled, sheetCell{column, cell.text})
			}
			w.cells += len(filled)
			others := slices.DeleteFunc(rows[n].cells, func(c sheetCell) bool { return left <= c.column && c.column <= right })
			rows[n].cells = slices.SortedFunc(slices.Values(append(others, filled...)), byColumn)
		}
	}
}

// tables writes rows as tables. One ends at an empty row if a title or a header follows.
func (w *workbook) tables(rows []sheetRow) error {
	var table []sheetRow
	last := 0
	for _, r := range rows {
		before := last
		last = r.number
		if len(r.cells) == 0 { // hidden rows do not separate
			continue
		}
		if len(table) > 0 && before < r.number-1 && begins(r) {
			if err := w.table(table); err != nil {
				return err
			}
			table = nil
		}
		table = append(table, r)
	}
	return w.table(table)
}

// begins reports whether a row below an empty row can be the title or header of another table.
func begins(r sheetRow) bool {
	var texts []string
	for _, c := range r.cells {
		texts = append(texts, c.text)
	}
	return document.IsHeader(texts)
}

// table writes rows as one table, without empty columns.
func (w *workbook) table(rows []sheetRow) error {
	used := map[int]bool{}
	for _, r := range rows {
		for _, c := range r.cells {
			used[c.column] = true
		}
	}
	if w.area += len(used) * len(rows); w.area > maxArea {
		return fmt.Errorf("%w: tables of too many cells", document.ErrTooLarge)
	}
	columns := slices.Sorted(func(yield func(int) bool) {
		for c := range used {
			if !yield(c) {
				return
			}
		}
	})
	var t document.Table
	title := true // no row yet had more than one cell
	for i, r := range rows {
		t.Row()
		if len(r.cells) == 1 && (title || r.cells[0].column == columns[0]) {
			t.Cell(r.cells[0].text, len(columns), 1)
			continue
		}
		if title {
			t.Headers(i + r.merged)
			title = len(r.cells) < 2
		}
		next := 0
		for _, column := range columns {
			text := ""
			if next < len(r.cells) && r.cells[next].column == column {
				text = r.cells[next].text
				next++
			}
			t.Cell(text, 1, 1)
		}
	}
	t.Write(w.b)
	return nil
}
