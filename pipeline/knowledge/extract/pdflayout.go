package extract

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"
)

// pdfLine is a line of a page, or a row of a table, in reading order.
type pdfLine struct {
	page           int // from 1
	x0, x1, y0, y1 float64
	left, right    float64 // edges of the text of its column
	size           float64 // height of its words
	text           string
	cells          []string // of a table's row; then text is empty
	bold           bool
	words          []pdf.Word
}

// pdfSegment is a run of words without a wide gap.
type pdfSegment struct {
	x0, x1 float64
	words  []pdf.Word
}

// pdfRow holds the segments at one height of the page, from left to right.
type pdfRow struct {
	y0, y1   float64
	segments []pdfSegment
}

func (r pdfRow) height() float64 { return r.y1 - r.y0 }

// span is a stretch of the x axis.
type span struct{ from, to float64 }

// layout puts the words of a page in reading order: rows, within them columns and tables, found by the gutters that
// several rows share. body is the height of the document's words.
func layout(p pdf.Page, number int, body float64) []pdfLine {
	l := &pdfLayout{page: number, body: body, gutter: 0.95 * body}
	l.region(segmented(rowsOf(upright(p.Words), body), l.gutter), 0)
	return l.out
}

type pdfLayout struct {
	page   int
	body   float64
	gutter float64 // least width of a gutter
	out    []pdfLine
}

// upright leaves out what runs up the margin, unless the whole page is turned.
func upright(words []pdf.Word) []pdf.Word {
	var out []pdf.Word
	for _, w := range words {
		if w.Upright {
			out = append(out, w)
		}
	}
	if len(out)*2 < len(words) {
		return words
	}
	return out
}

// rowsOf groups words by height. Small ones, indices and footnote marks, join the row beside them.
func rowsOf(words []pdf.Word, body float64) []pdfRow {
	var large, small []pdf.Word
	for _, w := range words {
		if w.Y1-w.Y0 < 0.82*body {
			small = append(small, w)
		} else {
			large = append(large, w)
		}
	}
	rows := cluster(large)
	var rest []pdf.Word
	for _, w := range small {
		if !attach(rows, w) {
			rest = append(rest, w)
		}
	}
	rows = append(rows, cluster(rest)...)
	slices.SortStableFunc(rows, func(a, b pdfRow) int { return compare(a.y0+a.y1, b.y0+b.y1) })
	for i := range rows {
		slices.SortStableFunc(rows[i].segments[0].words, func(a, b pdf.Word) int { return compare(a.X0, b.X0) })
	}
	return rows
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// cluster makes rows of words whose middles are at about the same height. Each row has one segment.
func cluster(words []pdf.Word) []pdfRow {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b pdf.Word) int { return compare(a.Y0+a.Y1, b.Y0+b.Y1) })
	var rows []pdfRow
	middle := 0.0
	for _, w := range words {
		m, h := (w.Y0+w.Y1)/2, w.Y1-w.Y0
		if n := len(rows) - 1; n >= 0 && m-middle < 0.4*min(h, rows[n].height()) {
			s := &rows[n].segments[0]
			s.words = append(s.words, w)
			rows[n].y0, rows[n].y1 = min(rows[n].y0, w.Y0), max(rows[n].y1, w.Y1)
			middle += (m - middle) / float64(len(s.words))
			continue
		}
		rows = append(rows, pdfRow{y0: w.Y0, y1: w.Y1, segments: []pdfSegment{{words: []pdf.Word{w}}}})
		middle = m
	}
	return rows
}

// attach puts a small word into the row in which a larger one stands right beside it.
func attach(rows []pdfRow, w pdf.Word) bool {
	h := w.Y1 - w.Y0
	from, _ := slices.BinarySearchFunc(rows, w.Y0-60, func(r pdfRow, y float64) int { return compare(r.y0, y) })
	for i := from; i < len(rows) && rows[i].y0 < w.Y1; i++ {
		if min(rows[i].y1, w.Y1)-max(rows[i].y0, w.Y0) < 0.3*h {
			continue
		}
		for _, o := range rows[i].segments[0].words {
			big := o.Y1 - o.Y0
			if w.X0-o.X1 < 0.3*big && o.X0-w.X1 < 0.3*big && min(o.Y1, w.Y1)-max(o.Y0, w.Y0) > 0.3*h {
				rows[i].segments[0].words = append(rows[i].segments[0].words, w)
				return true
			}
		}
	}
	return false
}

// segmented cuts rows at wide gaps. What only marks an item or numbers a heading stays with what follows.
func segmented(rows []pdfRow, gutter float64) []pdfRow {
	for i, r := range rows {
		var out []pdfSegment
		stretched := stretchedGap(r.segments[0].words)
		for _, w := range r.segments[0].words {
			n := len(out) - 1
			gap := max(gutter, 0.95*(w.Y1-w.Y0), 1.5*stretched)
			if n >= 0 && (w.X0-out[n].x1 < gap || w.X0-out[n].x1 < markReach(out[n].words)*gap) {
				if last := out[n].words[len(out[n].words)-1]; twice(last, w) {
					continue
				}
				out[n].words = append(out[n].words, w)
				out[n].x1 = max(out[n].x1, w.X1)
				continue
			}
			out = append(out, pdfSegment{x0: w.X0, x1: w.X1, words: []pdf.Word{w}})
		}
		rows[i].segments = out
	}
	return rows
}

// stretchedGap returns the gap between the words of a line that was spaced out to reach the margin: all its gaps are
// nearly the same. 0 for other lines.
func stretchedGap(words []pdf.Word) float64 {
	if len(words) < 4 {
		return 0
	}
	least, most, letters := math.Inf(1), 0.0, 0
	for i, w := range words {
		if hasLetter(w.Text) {
			letters++
		}
		if i > 0 {
			gap := w.X0 - words[i-1].X1
			least, most = min(least, gap), max(most, gap)
		}
	}
	if most > 1.3*least || most > 2*(words[0].Y1-words[0].Y0) || letters*4 < len(words)*3 {
		return 0
	}
	return most
}

// twice reports whether a word was drawn again over itself to look bold.
func twice(a, b pdf.Word) bool {
	return a.Text == b.Text && math.Abs(a.X0-b.X0) < 0.2*(a.Y1-a.Y0) && math.Abs(a.Y0-b.Y0) < 0.2*(a.Y1-a.Y0)
}

const bulletMarks = "•◦▪▸►●○■□–—-*∙‣⁃·"

// markReach returns over how many gaps a segment holds on to the next: a mark is set off widely, a bare number less.
func markReach(words []pdf.Word) float64 {
	switch {
	case len(words) != 1 || !isMark(words[0].Text):
		return 1
	case strings.Trim(words[0].Text, "0123456789") == "":
		return 1.7
	}
	return 4
}

// isMark reports whether a word can stand before an item or a heading: "•", "3.", "(a)", "[12]", "2.1.4", "IV.".
func isMark(t string) bool {
	if utf8.RuneCountInString(t) == 1 && strings.Contains(bulletMarks, t) {
		return true
	}
	if len(t) > 9 || t == "" {
		return false
	}
	core := strings.Trim(t, "()[].:")
	if core == "" {
		return false
	}
	digits := strings.Trim(core, "0123456789.") == "" && core[0] != '.'
	if digits {
		return len(core) < len(t) || strings.Contains(core, ".") || len(core) <= 2
	}
	return len(core) < len(t) && (len(core) == 1 || strings.Trim(core, "ivxIVX") == "")
}

// region writes rows in reading order.
func (l *pdfLayout) region(rows []pdfRow, depth int) {
	done := 0 // rows before it are written
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

// inner returns the gaps of row i, with those to a row of a neighbouring column that stands a little lower.
func inner(rows []pdfRow, i int) []span {
	segments := rows[i].segments
	if i+1 < len(rows) && rows[i].y1-rows[i+1].y0 > 0.25*rows[i].height() {
		segments = append(slices.Clone(segments), rows[i+1].segments...)
		slices.SortFunc(segments, func(a, b pdfSegment) int { return compare(a.x0, b.x0) })
	}
	var out []span
	for k := 1; k < len(segments); k++ {
		if segments[k].x0 > segments[k-1].x1 {
			out = append(out, span{segments[k-1].x1, segments[k].x0})
		}
	}
	return out
}

// open returns what is left of gutters beside the segments of a row.
func (l *pdfLayout) open(gutters []span, r pdfRow) []span {
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

// band writes rows that are divided by gutters: columns of prose one after the other, a table row by row.
func (l *pdfLayout) band(rows []pdfRow, gutters []span, depth int) {
	columns := make([][]pdfRow, len(gutters)+1)
	shared := 0
	for _, r := range rows {
		used := 0
		for c, part := range divide(r, gutters) {
			if len(part) > 0 {
				columns[c] = append(columns[c], pdfRow{r.y0, r.y1, part})
				used++
			}
		}
		if used > 1 {
			shared++
		}
	}
	columns = slices.DeleteFunc(columns, func(c []pdfRow) bool { return len(c) == 0 })
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
	case prosaic == len(columns), prosaic > 0 && prose(columns[0]) && len(columns) == 2, prosaic >= 2 && prosaic >= len(columns)-1:
		for _, c := range columns {
			l.region(c, depth+1)
		}
	case stacked(rows):
		l.plain(rows)
	default:
		l.table(rows, gutters)
	}
}

// stacked reports whether a few rows overlap, as fractions and their signs do.
func stacked(rows []pdfRow) bool {
	overlaps := 0
	for i := 1; i < len(rows); i++ {
		if rows[i-1].y1-rows[i].y0 > 0.3*min(rows[i].height(), rows[i-1].height()) {
			overlaps++
		}
	}
	return len(rows) <= 8 && overlaps > 0 && overlaps*3 >= len(rows)-1
}

func divide(r pdfRow, gutters []span) [][]pdfSegment {
	out := make([][]pdfSegment, len(gutters)+1)
	for _, s := range r.segments {
		c := 0
		for c < len(gutters) && s.x0 >= (gutters[c].from+gutters[c].to)/2 {
			c++
		}
		out[c] = append(out[c], s)
	}
	return out
}

// prose reports whether a column holds running text: most of its lines are long and reach its edge.
func prose(rows []pdfRow) bool {
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

func edges(rows []pdfRow) (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		for _, s := range r.segments {
			left, right = min(left, s.x0), max(right, s.x1)
		}
	}
	return left, right
}

// plain writes each row as one line.
func (l *pdfLayout) plain(rows []pdfRow) {
	left, right := edges(rows)
	for _, r := range rows {
		var words []pdf.Word
		for _, s := range r.segments {
			words = append(words, s.words...)
		}
		if line := newLine(l.page, words); line.text != "" {
			line.left, line.right = left, right
			l.out = append(l.out, line)
		}
	}
}

// table writes rows of cells. A row without a first cell goes on with the one above it.
func (l *pdfLayout) table(rows []pdfRow, gutters []span) {
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
		line := pdfLine{page: l.page, y0: r.y0, y1: r.y1, size: r.height(), cells: make([]string, len(gutters)+1)}
		for c, part := range divide(r, gutters) {
			var words []pdf.Word
			for _, s := range part {
				words = append(words, s.words...)
			}
			line.cells[c] = newLine(l.page, words).text
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

// continues reports whether cells go on with the row above: the first is empty, or goes on in lower case alone.
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

// newLine joins the words of a line, which stand from left to right.
func newLine(page int, words []pdf.Word) pdfLine {
	line := pdfLine{page: page, words: words, bold: len(words) > 0}
	if len(words) == 0 {
		return line
	}
	line.x0, line.y0, line.y1 = words[0].X0, math.Inf(1), math.Inf(-1)
	weight, best := map[float64]int{}, 0
	for _, w := range words {
		h := math.Round((w.Y1-w.Y0)*4) / 4
		if weight[h] += len(w.Text); weight[h] > best {
			best, line.size = weight[h], h
		}
	}
	var b strings.Builder
	for i, w := range words {
		text := foldPDF(w.Text)
		if text == "" {
			continue
		}
		if i > 0 {
			before := words[i-1]
			if footnoteMark(before, w, line.size) {
				continue
			}
			if b.Len() > 0 && w.X0-before.X1 > 0.09*line.size {
				b.WriteByte(' ')
			}
		}
		b.WriteString(text)
		line.bold = line.bold && (w.Bold || !hasLetter(text))
		line.x1 = max(line.x1, w.X1)
		line.y0, line.y1 = min(line.y0, w.Y0), max(line.y1, w.Y1)
	}
	line.text = strings.TrimSpace(b.String())
	return line
}

// footnoteMark reports whether w is a small raised number behind a word. Behind "m" or "10" it is an exponent.
func footnoteMark(before, w pdf.Word, size float64) bool {
	if w.Y1-w.Y0 > 0.85*size || w.Y1 > before.Y1-0.1*size || strings.Trim(w.Text, "0123456789*†‡") != "" || w.X0-before.X1 > 0.3*size {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before.Text)
	return utf8.RuneCountInString(before.Text) >= 4 && unicode.IsLetter(last) || strings.ContainsRune(".,;:!?)”\"’", last)
}

var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// foldPDF takes ligatures apart and drops what no reader sees or no font explains.
func foldPDF(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		plain = plain && s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\u00ad' { // kept until lines are joined
			return r
		}
		if dropped(r) || r == '\ufffd' || unicode.Is(unicode.Co, r) {
			return -1
		}
		return r
	}, ligatures.Replace(s))
}

func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }
