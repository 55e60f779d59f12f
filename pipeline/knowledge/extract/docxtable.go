package extract

import (
	"encoding/xml"
	"strings"
)

// texts reads blocks and returns the texts of their paragraphs.
func (w *docxWriter) texts(depth int) ([]string, error) {
	cell, cells := w.cell, w.cells
	w.cell, w.cells = true, nil
	err := w.blocks(depth + 1)
	out := w.cells
	w.cell, w.cells = cell, cells
	return out, err
}

// table writes the rows of a table. Vertically merged cells repeat the text above, because a passage may hold one row.
func (w *docxWriter) table(depth int) error {
	w.flushCode()
	var rows [][]string
	columns := 0
	for {
		t, err := w.d.Token()
		if err != nil {
			return err
		}
		switch e := t.(type) {
		case xml.EndElement:
			if e.Name.Local == "tbl" {
				w.rows(rows, columns)
				return nil
			}
		case xml.StartElement:
			switch e.Name.Local {
			case "tr":
				var above []string
				if len(rows) > 0 {
					above = rows[len(rows)-1]
				}
				row, err := w.row(above, depth+1)
				if err != nil {
					return err
				}
				columns = max(columns, len(row))
				rows = append(rows, row)
			case "sdt", "sdtContent", "customXml", "ins": // containers of rows
			default:
				if err := w.d.Skip(); err != nil {
					return err
				}
			}
		}
	}
}

func (w *docxWriter) rows(rows [][]string, columns int) {
	for _, r := range rows {
		switch {
		case w.cell:
			w.cells = append(w.cells, strings.Join(r, " "))
		case columns < 2: // a single-column table is a frame around text
			for _, c := range r {
				w.b.paragraph(c)
			}
		default:
			w.b.row(r)
		}
	}
	w.b.last = min(w.b.last, blockText)
}

// row reads the cells of a row. It returns nil for a deleted row.
func (w *docxWriter) row(above []string, depth int) ([]string, error) {
	var out []string
	deleted := false
	for {
		t, err := w.d.Token()
		if err != nil {
			return nil, err
		}
		switch e := t.(type) {
		case xml.EndElement:
			if e.Name.Local == "tr" {
				if deleted {
					out = nil
				}
				return out, nil
			}
		case xml.StartElement:
			switch e.Name.Local {
			case "tc":
				text, merged, err := w.tableCell(depth + 1)
				if err != nil {
					return nil, err
				}
				if merged && text == "" && len(out) < len(above) {
					text = above[len(out)]
				}
				out = append(out, text)
			case "del":
				deleted = true
			case "trPr", "sdt", "sdtContent", "customXml":
			default:
				if err := w.d.Skip(); err != nil {
					return nil, err
				}
			}
		}
	}
}

func (w *docxWriter) tableCell(depth int) (text string, merged bool, err error) {
	cell, cells := w.cell, w.cells
	w.cell, w.cells = true, nil
	defer func() { w.cell, w.cells = cell, cells }()
	if depth > maxDOCXDepth {
		return "", false, w.d.Skip()
	}
	for {
		t, err := w.d.Token()
		if err != nil {
			return "", false, err
		}
		switch e := t.(type) {
		case xml.EndElement:
			if e.Name.Local == "tc" {
				return clean(strings.Join(w.cells, "\n")), merged, nil
			}
		case xml.StartElement:
			switch e.Name.Local {
			case "vMerge":
				merged = attr(e, "val") != "restart"
			case "p":
				p := docxParagraph{outline: -1, level: -1}
				if err := w.inline(&p, depth+1); err != nil {
					return "", false, err
				}
				w.paragraph(&p)
			case "tbl":
				if err := w.table(depth + 1); err != nil {
					return "", false, err
				}
			case "tcPr", "sdt", "sdtContent", "customXml", "ins", "AlternateContent", "Choice":
			default:
				if err := w.d.Skip(); err != nil {
					return "", false, err
				}
			}
		}
	}
}
