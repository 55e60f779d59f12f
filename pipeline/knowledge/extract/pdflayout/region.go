package pdflayout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"
)

// textLine is a line of text or a table row, in reading order.
type textLine struct {
	page           int // counted from 1
	x0, x1, y0, y1 float64
	left, right    float64 // edges of its column's text
	size           float64 // height of its words
	text           string
	cells          []string // cells of a table row; text is then empty
	bold           bool
	note           bool // begins with a raised mark
	words          []pdf.Word
}

// below reports whether l is on the same page below another line, at most reach away.
func (l textLine) below(above textLine, reach float64) bool {
	return l.page == above.page && l.y0 > above.y0 && l.y0-above.y1 <= reach
}

// segment is a run of words without a wide gap.
type segment struct {
	x0, x1 float64
	words  []pdf.Word
}

// textRow holds the segments at one height of the page, from left to right.
type textRow struct {
	y0, y1   float64
	segments []segment
}

func (r textRow) height() float64 { return r.y1 - r.y0 }

// span is an interval of the x axis.
type span struct{ from, to float64 }

// layout puts the words of a page, which have one direction, in reading order. It forms rows and, within them, finds
// columns and tables by the gutters shared by several rows. body is the height of the document's body text.
func layout(p pdf.Page, number int, body float64) []textLine {
	l := &pageLayout{page: number, body: body, gutter: 0.95 * body}
	rows := segmented(rowsOf(p.Words, body), l.gutter)
	l.notes = notesOf(rows)
	l.region(rows, 0)
	return l.out
}

type pageLayout struct {
	page   int
	body   float64
	gutter float64         // minimum width of a gutter
	notes  map[string]bool // marks of footnotes
	out    []textLine
}

// region writes rows in reading order.
func (l *pageLayout) region(rows []textRow, depth int) {
	done := 0 // number of rows written
	for i := 0; i < len(rows); i++ {
		gutters := inner(rows, i)
		if len(gutters) == 0 || depth > 4 {
			continue
		}
		from, to := i, i+1
		for to < len(rows) {
			next := l.open(gutters, rows[to])
			if len(next) == 0 || rows[to].y0-rows[to-1].y1 > 6*l.body {
				break
			}
			gutters, to = next, to+1
		}
		if to-i < 2 {
			continue
		}
		for from > done && rows[from].y0-rows[from-1].y1 < 1.5*l.body {
			next := l.open(gutters, rows[from-1])
			if len(next) < len(gutters) {
				break
			}
			gutters, from = next, from-1
		}
		l.plain(rows[done:from])
		l.band(rows[from:to], gutters, depth)
		done, i = to, to-1
	}
	l.plain(rows[done:])
}

// inner returns the gaps in row i, including those to an overlapping row of a neighbouring column just below.
func inner(rows []textRow, i int) []span {
	segments := rows[i].segments
	if i+1 < len(rows) && rows[i].y1-rows[i+1].y0 > 0.25*rows[i].height() {
		segments = append(slices.Clone(segments), rows[i+1].segments...)
		slices.SortFunc(segments, func(a, b segment) int { return cmp.Compare(a.x0, b.x0) })
	}
	if len(segments) > maxSegments {
		return nil
	}
	var out []span
	for k := 1; k < len(segments); k++ {
		if segments[k].x0 > segments[k-1].x1 {
			out = append(out, span{segments[k-1].x1, segments[k].x0})
		}
	}
	return out
}

// open returns the parts of the gutters that remain free of the segments of a row.
func (l *pageLayout) open(gutters []span, r textRow) []span {
	if len(r.segments) > maxSegments {
		return nil
	}
	for _, s := range r.segments {
		var next []span
		for _, g := range gutters {
			if s.x1 <= g.from || s.x0 >= g.to {
				next = append(next, g)
				continue
			}
			for _, part := range []span{{g.from, s.x0}, {s.x1, g.to}} {
				if part.to-part.from >= l.gutter {
					next = append(next, part)
				}
			}
		}
		gutters = next
	}
	return gutters
}

// band writes rows divided by gutters: columns of prose one after the other, tables row by row.
func (l *pageLayout) band(rows []textRow, gutters []span, depth int) {
	columns := make([][]textRow, len(gutters)+1)
	shared := 0
	for _, r := range rows {
		used := 0
		for c, part := range divide(r, gutters) {
			if len(part) > 0 {
				columns[c] = append(columns[c], textRow{r.y0, r.y1, part})
				used++
			}
		}
		if used > 1 {
			shared++
		}
	}
	columns = slices.DeleteFunc(columns, func(c []textRow) bool { return len(c) == 0 })
	if len(columns) < 2 {
		l.plain(rows)
		return
	}
	prosaic := 0
	for _, c := range columns {
		if prose(c) {
			prosaic++
		}
	}
	switch {
	case shared < 2 && prosaic < len(columns):
		l.plain(rows)
	case prosaic == len(columns), prosaic > 0 && prose(columns[0]) && len(columns) == 2, prosaic >= 2 &&
		prosaic >= len(columns)-1:
		for _, c := range columns {
			l.region(c, depth+1)
		}
	case stacked(rows):
		l.plain(rows)
	default:
		l.table(rows, l.refined(rows, gutters))
	}
}

// refined returns the gutters of a table including those that a cell of several columns crosses: most rows with text
// in a column are divided there. A column that has only a heading between two others is the heading of both.
func (l *pageLayout) refined(rows []textRow, gutters []span) (out []span) {
	divided := make([][][]segment, len(rows)) // by row and column
	for i, r := range rows {
		divided[i] = divide(r, gutters)
	}
	for c := range len(gutters) + 1 {
		var inside []span
		used, split, last := 0, 0, 0
		for i, columns := range divided {
			part := textRow{segments: columns[c]}
			if len(part.segments) == 0 {
				continue
			}
			if leaders.MatchString(l.newLine(wordsOf(part)).text + " 0") { // a table of contents
				return gutters
			}
			used, last = used+1, i
			if len(part.segments) < 2 {
				continue
			}
			if split++; split == 1 {
				inside = inner([]textRow{part}, 0)
			} else {
				inside = l.open(inside, part)
			}
		}
		if split > 1 && split*2 > used {
			out = append(out, inside...)
		}
		if c == len(gutters) {
			break
		}
		if heading := used == 1 && last == 0 && c > 0; heading && headsBoth(rows, gutters, c) {
			out[len(out)-1].to = gutters[c].to
		} else {
			out = append(out, gutters[c])
		}
	}
	return out
}

// headsBoth reports whether the first row has text in column c and not beside it, and the next row on both sides.
func headsBoth(rows []textRow, gutters []span, c int) bool {
	first, next := divide(rows[0], gutters), divide(rows[1], gutters)
	return len(first[c-1])+len(first[c+1]) == 0 && len(next[c-1]) > 0 && len(next[c+1]) > 0
}

// stacked reports whether rows are few and overlap vertically, as in formulas with fractions.
func stacked(rows []textRow) bool {
	overlaps := 0
	for i := 1; i < len(rows); i++ {
		if rows[i-1].y1-rows[i].y0 > 0.3*min(rows[i].height(), rows[i-1].height()) {
			overlaps++
		}
	}
	return len(rows) <= 8 && overlaps > 0 && overlaps*3 >= len(rows)-1
}

// divide returns the segments of each column. One that spans columns beside others stands in each of them.
func divide(r textRow, gutters []span) [][]segment {
	out := make([][]segment, len(gutters)+1)
	after := func(x float64, c int) bool { return c < len(gutters) && x > (gutters[c].from+gutters[c].to)/2 }
	for _, s := range r.segments {
		c := 0
		for after(s.x0, c) {
			c++
		}
		if after(s.x1, c) && !slices.ContainsFunc(s.words, func(w pdf.Word) bool { return hasLetter(w.Text) }) {
			for _, w := range s.words { // numbers of several columns that are close to each other
				for after(w.X0, c) {
					c++
				}
				out[c] = append(out[c], segment{w.X0, w.X1, []pdf.Word{w}})
			}
			continue
		}
		out[c] = append(out[c], s)
		for len(r.segments) > 1 && after(s.x1, c) {
			c++
			out[c] = append(out[c], s)
		}
	}
	return out
}

// prose reports whether a column contains running text: at least half of its rows are long and nearly full width.
func prose(rows []textRow) bool {
	if len(rows) < 4 {
		return false
	}
	left, right := edges(rows)
	full, letters := 0, 0
	for _, r := range rows {
		chars := 0
		for _, s := range r.segments {
			for _, w := range s.words {
				chars += utf8.RuneCountInString(w.Text) + 1
			}
		}
		last := r.segments[len(r.segments)-1]
		if last.x1-r.segments[0].x0 > 0.7*(right-left) {
			full++
		}
		if chars >= 24 {
			letters++
		}
	}
	return full*2 >= len(rows) && letters*2 >= len(rows)
}

func edges(rows []textRow) (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		for _, s := range r.segments {
			left, right = min(left, s.x0), max(right, s.x1)
		}
	}
	return left, right
}

func wordsOf(r textRow) (words []pdf.Word) {
	for _, s := range r.segments {
		words = append(words, s.words...)
	}
	return words
}

// plain writes each row as one line.
func (l *pageLayout) plain(rows []textRow) {
	left, right := edges(rows)
	for _, r := range rows {
		if line := l.newLine(wordsOf(r)); line.text != "" {
			line.left, line.right = left, right
			l.out = append(l.out, line)
		}
	}
}

// table writes rows of cells. A row without a first cell continues the row above.
func (l *pageLayout) table(rows []textRow, gutters []span) {
	for len(rows) > 0 && len(rows[0].segments) < 2 {
		l.plain(rows[:1])
		rows = rows[1:]
	}
	end := len(rows)
	for end > 0 && len(rows[end-1].segments) < 2 && len(divide(rows[end-1], gutters)[0]) > 0 {
		end--
	}
	start := len(l.out)
	for i, r := range rows[:end] {
		line := textLine{page: l.page, y0: r.y0, y1: r.y1, size: r.height(), cells: make([]string, len(gutters)+1)}
		for c, part := range divide(r, gutters) {
			cell := l.newLine(wordsOf(textRow{segments: part}))
			line.cells[c], line.note = cell.text, line.note || cell.note
		}
		if len(l.out) > start && i > 0 && r.y0-rows[i-1].y1 < 0.8*l.body && continues(line.cells) {
			last := &l.out[len(l.out)-1]
			for c, t := range line.cells {
				last.cells[c] = strings.TrimSpace(last.cells[c] + "\n" + t)
			}
			last.y1 = r.y1
			continue
		}
		line.x0, line.x1 = edges(rows[i : i+1])
		l.out = append(l.out, line)
	}
	l.plain(rows[end:])
}

// continues reports whether cells continue the row above: the first cell is empty or the only one and in lower case.
func continues(cells []string) bool {
	used := 0
	for _, c := range cells {
		if c != "" {
			used++
		}
	}
	first, _ := utf8.DecodeRuneInString(cells[0])
	return cells[0] == "" || used == 1 && unicode.IsLower(first)
}
