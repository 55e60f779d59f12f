package reporting

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/citation"
)

// quoteMarkdown shows the words of a source as Markdown: its lists, tables and code stay what they are, headings become
// bold lines, and nothing else in them has a meaning in Markdown. The words are those of the source, white space aside.
func quoteMarkdown(quote string) string {
	q := quoter{}
	for line := range strings.SplitSeq(quote, "\n") {
		q.line(strings.TrimRight(line, " \t\r"))
	}
	q.closeCode()
	return strings.Trim(strings.Join(q.out, "\n"), "\n")
}

// quotedItem matches the marker of a list item, which stays one.
var quotedItem = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+`)

// quoter writes a quotation line by line.
type quoter struct {
	out   []string
	fence string   // of the code at hand, as in the source; empty: none
	code  []string // its lines
	rows  int      // of the table at hand
}

func (q *quoter) line(line string) {
	bare := strings.TrimSpace(line)
	if q.fence != "" {
		if strings.HasPrefix(bare, q.fence) && strings.Trim(bare, q.fence[:1]) == "" {
			q.closeCode()
		} else {
			q.code = append(q.code, line)
		}
		return
	}
	if !strings.HasPrefix(bare, "|") {
		q.rows = 0
	}
	switch {
	case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
		q.fence = bare[:3]
	case bare == "":
		q.out = append(q.out, "")
	case strings.HasPrefix(bare, "|"):
		q.row(bare)
	case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
		q.out = append(q.out, "", "**"+citation.Escape(strings.TrimLeft(bare, "# "))+"**", "")
	default:
		mark := quotedItem.FindString(line)
		q.out = append(q.out, mark+citation.Escape(line[len(mark):]))
	}
}

// row writes a row of a table; the first one is its head, below which Markdown wants a rule.
func (q *quoter) row(row string) {
	if q.rows > 0 && tableRule.MatchString(row) {
		return
	}
	cells := strings.Split(strings.Trim(row, "|"), "|")
	for i, c := range cells {
		cells[i] = citation.Escape(c)
	}
	if q.rows == 0 && len(q.out) > 0 && q.out[len(q.out)-1] != "" {
		q.out = append(q.out, "")
	}
	q.out = append(q.out, "| "+strings.Join(cells, " | ")+" |")
	if q.rows == 0 {
		q.out = append(q.out, "|"+strings.Repeat(" --- |", len(cells)))
	}
	q.rows++
}

// closeCode writes the code at hand between fences that it cannot close.
func (q *quoter) closeCode() {
	if q.fence == "" {
		return
	}
	fence := "```"
	for strings.Contains(strings.Join(q.code, "\n"), fence) {
		fence += "`"
	}
	q.out = append(append(append(q.out, fence), q.code...), fence)
	q.fence, q.code = "", nil
}
