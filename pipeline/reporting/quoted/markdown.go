package quoted

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/markdown"
)

// Markdown renders source text as Markdown. Lists, tables and code are kept, headings become bold lines, and other
// markup is escaped. The words are unchanged, apart from white space.
func Markdown(quote string) string {
	q := quoter{}
	for line := range strings.SplitSeq(quote, "\n") {
		q.line(strings.TrimRight(line, " \t\r"))
	}
	q.closeCode()
	return strings.Trim(strings.Join(q.out, "\n"), "\n")
}

var tableRule = regexp.MustCompile(`^[ \t]*\|?[ \t:|-]*-[ \t:|-]*$`)

// quotedItem matches the marker of a list item, which is kept.
var quotedItem = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+`)

// quoter renders a quotation line by line.
type quoter struct {
	out   []string
	fence string   // fence of the current code block in the source; empty: none
	code  []string // lines of the current code block
	rows  int      // rows of the current table so far
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
		q.out = append(q.out, "", "**"+markdown.Escape(strings.TrimLeft(bare, "# "))+"**", "")
	default:
		mark := quotedItem.FindString(line)
		q.out = append(q.out, mark+markdown.Escape(line[len(mark):]))
	}
}

// row renders a row of a table. The first row is the header and gets a delimiter row.
func (q *quoter) row(row string) {
	if q.rows > 0 && tableRule.MatchString(row) {
		return
	}
	cells := strings.Split(strings.Trim(row, "|"), "|")
	for i, c := range cells {
		cells[i] = markdown.Escape(c)
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

// closeCode renders the current code block with a fence longer than any in the code.
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
