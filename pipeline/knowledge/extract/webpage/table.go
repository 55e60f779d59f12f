package webpage

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
	for _, r := range rows {
		var texts []string
		for _, c := range cells(r) {
			texts = append(texts, inlineText(c))
		}
		w.b.Row(texts)
	}
	w.b.EndTable()
	w.written()
}

func cells(row *node) []*node {
	var out []*node
	for _, k := range row.kids {
		if k.tag == "td" || k.tag == "th" {
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
