package support

import (
	"strings"
	"unicode"

	"nightdesk/pipeline/quantity"
)

// CheckRow judges a row of a Markdown table as Check does a sentence: each cell behind the first one as what the head of its column
// says of what the first one names. head: the table's first row; may have fewer cells, or none. The worst verdict counts:
// unsupported before unverified.
func (c *Corpus) CheckRow(head, row string, ids []string) Verdict {
	worst := Verdict{}
	for _, s := range rowSentences(cellsOf(head), cellsOf(row)) {
		v := c.Check(s, ids)
		if worst.Result == "" || v.Result == Unsupported || v.Result == Unverified && worst.Result == Supported {
			worst = v
		}
		if worst.Result == Unsupported {
			break
		}
	}
	return worst
}

// maxCells bounds the cells of a row that are looked at.
const maxCells = 60

// rowSentences says a row in sentences: Germany: 5 GWh, 2023.
func rowSentences(head, cells []string) []string {
	first := 0
	if len(cells) > 2 && rank(cells[0]) {
		first = 1
	}
	subject := ""
	if len(cells) > first {
		subject = strings.TrimSpace(cells[first])
	}
	var out []string
	for i := first + 1; i < min(len(cells), maxCells); i++ {
		cell, title := strings.TrimSpace(cells[i]), ""
		if i < len(head) {
			title = strings.TrimSpace(head[i])
		}
		if !says(cell) || naming[strings.ToLower(strings.Trim(title, "*_:"))] {
			continue
		}
		out = append(out, strings.TrimPrefix(subject+": ", ": ")+dated(withUnit(cell, title), subject, title))
	}
	if len(out) == 0 {
		return []string{strings.Join(cells, " | ")}
	}
	return out
}

// rank reports a cell that numbers the rows.
func rank(cell string) bool {
	cell = strings.Trim(strings.TrimSpace(cell), "#.)")
	return len(cell) > 0 && len(cell) <= 3 && strings.Trim(cell, "0123456789") == ""
}

// naming are the heads of columns that name the sources.
var naming = set(`source sources reference references ref refs citation citations cite link links url urls quelle quellen beleg belege fuente fuentes référence références 来源 出处 参考 参考文献`)

// says reports a cell that says more than yes, no or nothing.
func says(cell string) bool {
	return strings.IndexFunc(cell, unicode.IsDigit) >= 0 || len(strings.Fields(cell)) > 2
}

// withUnit gives a bare number the unit that the head of its column has in brackets: 5 GWh below Storage (GWh), £5m below Sales (£m).
func withUnit(cell, head string) string {
	found := quantity.Parse(cell)
	if _, ok := unitIn(head); !ok || len(found) != 1 || found[0].Kind != quantity.Number && found[0].Kind != quantity.Date || found[0].Start != 0 || found[0].End != len(cell) {
		return cell
	}
	name := unitName(head)
	if sign, rest := currency(name); sign != "" {
		return sign + cell + rest
	}
	return cell + " " + name
}

// dated adds the date that the head of a column names, where the row names none.
func dated(text, subject, head string) string {
	date := ""
	for _, q := range quantity.Parse(head) {
		switch {
		case q.Kind != quantity.Date || q.When.Year == 0 || !q.To.Zero():
		case date != "":
			return text // which one cannot be told
		default:
			date = head[q.Start:q.End]
		}
	}
	for _, q := range quantity.Parse(subject + ". " + text) {
		if q.Kind == quantity.Date {
			return text
		}
	}
	if date == "" {
		return text
	}
	return text + " in " + date
}
