package webpage

import (
	"slices"
	"strconv"
	"strings"
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
	w.rows(spread(rows), headerRows(rows))
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

// Limits for spans, which a few bytes can make large.
const (
	maxColumns  = 300
	maxRepeated = 256 << 10 // bytes of a table
)

// spread returns the texts of a table in their columns. A cell that spans rows or columns stands in each of them, and
// one that spans the whole width stands alone.
func spread(rows []*node) [][]string {
	type above struct {
		text string
		rows int
	}
	var spanning []above // by column
	repeated := 0
	grid := make([][]string, len(rows))
	for r, row := range rows {
		var texts []string
		fromAbove := func(to int) { // until a column without a span
			for c := len(texts); c < to && c < len(spanning) && spanning[c].rows > 0; c++ {
				if repeated >= maxRepeated {
					return
				}
				spanning[c].rows--
				repeated += len(spanning[c].text) + 1
				texts = append(texts, spanning[c].text)
			}
		}
		all := cells(row)
		for _, cell := range all {
			fromAbove(len(spanning))
			text, wide, high := inlineText(cell), cell.span("colspan"), cell.span("rowspan")
			if len(all) == 1 && len(texts) == 0 {
				wide = 1
			}
			if high == 0 || high > len(rows)-r {
				high = len(rows) - r
			}
			for i := 0; i < max(1, wide) && (i == 0 || len(texts) < maxColumns && repeated < maxRepeated); i++ {
				if c := len(texts); high > 1 && c < maxColumns && repeated < maxRepeated {
					spanning = append(spanning, make([]above, max(0, c+1-len(spanning)))...)
					spanning[c] = above{text, high - 1}
				}
				repeated += min(i, 1) * (len(text) + 1)
				texts = append(texts, text)
			}
		}
		last := len(spanning)
		for last > 0 && spanning[last-1].rows == 0 {
			last--
		}
		for fromAbove(last); len(texts) < last && repeated < maxRepeated; fromAbove(last) {
			texts = append(texts, "")
		}
		grid[r] = texts
	}
	return grid
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
