package citation

import (
	"regexp"
	"slices"
	"strings"
)

// tableRule matches the line below the head of a table.
var tableRule = regexp.MustCompile(`^[ \t>]*\|[ \t:|-]*-[ \t:|-]*$`)

// joinCells returns a line of a table as one sentence with what all its cells cite. cut: into sentences.
func joinCells(text string, line span, cut func(span) []Sentence) Sentence {
	row := Sentence{Start: line.start, End: line.end}
	var cells []string
	for _, c := range cellsOf(text, line) {
		var words []string
		for _, s := range cut(c) {
			if s.Text != "" {
				words = append(words, s.Text)
			}
			row.cites(s)
		}
		cells = append(cells, strings.Join(words, " "))
	}
	if strings.Trim(strings.Join(cells, ""), " ") != "" {
		row.Text = strings.TrimRight(strings.Join(cells, " | "), " |")
	}
	return row
}

// cellsOf returns the cells of a line of a table; the bars around it are optional.
func cellsOf(text string, line span) []span {
	end := line.start + len(strings.TrimRight(text[line.start:line.end], " \t\r\n"))
	at := end - len(strings.TrimLeft(text[line.start:end], " \t>"))
	if at < end && text[at] == '|' {
		at++
	}
	if at < end && text[end-1] == '|' && text[end-2] != '\\' {
		end--
	}
	var cells []span
	start := at
	for ; at < end; at++ {
		if text[at] == '|' && text[at-1] != '\\' {
			cells = append(cells, span{start, at})
			start = at + 1
		}
	}
	return append(cells, span{start, end})
}

// cites adds what another sentence cites.
func (s *Sentence) cites(o Sentence) {
	for i, n := range o.Citations {
		if slices.Contains(s.Citations, n) {
			continue
		}
		s.Citations, s.Sources = append(s.Citations, n), append(s.Sources, o.Sources[i])
	}
	for _, id := range o.IDs {
		if !slices.Contains(s.IDs, id) {
			s.IDs = append(s.IDs, id)
		}
	}
}
