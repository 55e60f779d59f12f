package webpage

import (
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
)

// table writes a table as rows. A table that only arranges blocks on the page is written as those blocks.
func (w *walker) table(n *node) {
	if linkFarm(n) {
		return
	}
	var captions, rows []*node
	columns := 0
	var gather func(*node)
	gather = func(n *node) {
		for _, k := range n.kids {
			k.inHead = n.tag == "thead"
			switch k.tag {
			case "caption":
				captions = append(captions, k)
			case "tr":
				rows = append(rows, k)
				columns = max(columns, len(cells(k)))
			case "table", "":
			default:
				gather(k)
			}
		}
	}
	gather(n)
	for _, c := range captions {
		w.b.Paragraph(inlineText(c))
		w.written()
	}
	if columns < 2 || n.find(arranges) != nil {
		for _, r := range rows {
			for _, c := range cells(r) {
				w.walkAll(c)
				w.flush()
			}
		}
		return
	}
	w.rows(grid(rows), headerRows(rows))
	w.b.EndTable()
	w.written()
}

// rows writes a grid. The texts of several header rows are joined, so that one row names each column.
func (w *walker) rows(grid [][]string, header int) {
	var names []string
	for i, texts := range grid {
		if i >= header || len(texts) < 2 { // a row for the whole width is a caption
			w.b.Row(texts)
			continue
		}
		for c, text := range texts {
			switch {
			case c >= len(names):
				names = append(names, text)
			case !strings.HasSuffix(names[c], text):
				names[c] = strings.TrimSpace(names[c] + " " + text)
			}
		}
		if i == header-1 {
			w.b.Row(names)
		}
	}
}

// headerRows returns the number of first rows that name the columns together: rows of the head, or of header cells
// only, some of which span several columns or rows.
func headerRows(rows []*node) int {
	spans := false
	for i, row := range rows {
		all := cells(row)
		if slices.ContainsFunc(all, func(c *node) bool { return c.tag == "td" && !row.inHead }) {
			if !spans {
				return 0
			}
			return i
		}
		spans = spans || slices.ContainsFunc(all, func(c *node) bool {
			return c.span("colspan") != 1 || c.span("rowspan") != 1
		})
	}
	return 0
}

// grid returns the rows of a table with the text of each cell in every column and row that it spans.
func grid(rows []*node) [][]string {
	var t document.Table
	for r, row := range rows {
		t.Row()
		for _, cell := range cells(row) {
			below := len(rows) - r
			high := cell.span("rowspan")
			if high == 0 || high > below {
				high = below
			}
			t.Cell(inlineText(cell), cell.span("colspan"), high)
		}
	}
	return t.Rows()
}

// span returns the number of columns or rows of a cell; 0 means all that follow.
func (n *node) span(attribute string) int {
	if v, err := strconv.Atoi(strings.TrimSpace(n.attr[attribute])); err == nil && v >= 0 {
		return v
	}
	return 1
}

func cells(row *node) []*node {
	var out []*node
	for _, k := range row.kids {
		if (k.tag == "td" || k.tag == "th") && !k.hidden {
			out = append(out, k)
		}
	}
	return out
}

// arranges reports whether n is a table cell with blocks that do not fit into one line.
func arranges(n *node) bool {
	if n.tag != "td" && n.tag != "th" {
		return false
	}
	paragraphs := 0
	return n.find(func(k *node) bool {
		switch k.tag {
		case "table", "pre", "dl", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6":
			return true
		case "p":
			paragraphs++
		}
		return paragraphs > 1
	}) != nil
}
