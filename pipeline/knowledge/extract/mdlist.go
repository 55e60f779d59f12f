package extract

import "strings"

// list writes the items of one list. A list of nothing but links within the page is a table of contents: it goes.
func (m *markdown) list(lines []string, depth int) int {
	var items [][]string
	var markers []string
	n := 0
	for n < len(lines) {
		indent, rest := indentation(lines[n])
		marker, text := listMarker(rest)
		other := len(markers) > 0 && (marker == "-") != (markers[0] == "-")
		if marker == "" || indent >= 4 || thematic(rest) || other {
			break
		}
		content := indent + len(rest) - len(text) // column at which the item's text begins
		if text == "" || strings.HasPrefix(text, "    ") {
			content = indent + len(marker) + 1 // code, or a text that begins on the next line
		}
		text = withoutBox(text)
		item := []string{text}
		n++
		for blank := false; n < len(lines); n++ {
			in, rest := indentation(lines[n])
			if rest == "" {
				blank = true
				item = append(item, "")
				continue
			}
			if in >= content {
				item = append(item, outdent(lines[n], content))
				blank = false
				continue
			}
			other, _ := listMarker(rest)
			if blank || other != "" || interrupts(rest, depth) {
				break
			}
			item = append(item, rest) // a lazy continuation of the item's paragraph
		}
		items = append(items, item)
		markers = append(markers, marker)
	}
	if contentsList(items) {
		return n
	}
	for i, item := range items {
		m.marker = markers[i]
		m.blocks(item, depth+1)
		m.marker = ""
	}
	return n
}

// contentsList reports whether every line of a list is a link to a heading of the same page.
func contentsList(items [][]string) bool {
	lines := 0
	for _, item := range items {
		for _, line := range item {
			_, rest := indentation(line)
			if rest == "" {
				continue
			}
			if marker, text := listMarker(rest); marker != "" {
				rest = strings.TrimSpace(withoutBox(text))
			}
			if !strings.HasPrefix(rest, "[") || !strings.HasSuffix(rest, ")") || !strings.Contains(rest, "](#") {
				return false
			}
			lines++
		}
	}
	return lines > 1
}

// listMarker splits the marker of a list item from its text. The marker is "-" for every bullet, "3." for a number;
// it is empty when the line begins no item.
func listMarker(rest string) (marker, text string) {
	if rest == "" {
		return "", ""
	}
	n := 1
	switch c := rest[0]; {
	case c == '-' || c == '*' || c == '+':
		marker = "-"
	case c >= '0' && c <= '9':
		for n < len(rest) && n < 9 && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == len(rest) || rest[n] != '.' && rest[n] != ')' {
			return "", ""
		}
		marker = rest[:n] + "."
		n++
	default:
		return "", ""
	}
	if n == len(rest) {
		return marker, ""
	}
	if rest[n] != ' ' && rest[n] != '\t' {
		return "", ""
	}
	text = rest[n+1:]
	if trimmed := strings.TrimLeft(text, " "); len(text)-len(trimmed) < 4 {
		text = trimmed
	}
	return marker, text
}

// withoutBox takes the box from a task.
func withoutBox(text string) string {
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		text = strings.TrimPrefix(text, box)
	}
	return text
}
