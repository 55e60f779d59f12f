package pdflayout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"
)

// maxPageWords and maxSegments are far above the values of readable pages. Beyond them, comparisons with quadratic cost
// are skipped.
const (
	maxPageWords = 20_000
	maxSegments  = 60 // per row
)

// rowsOf groups words by height. Small words, such as indices and footnote marks, join the adjacent row.
func rowsOf(words []pdf.Word, body float64) []textRow {
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
		if len(words) > maxPageWords || !attach(rows, w) {
			rest = append(rest, w)
		}
	}
	rows = append(rows, withMarks(cluster(rest))...)
	slices.SortStableFunc(rows, func(a, b textRow) int { return cmp.Compare(a.y0+a.y1, b.y0+b.y1) })
	for i := range rows {
		slices.SortStableFunc(rows[i].segments[0].words, func(a, b pdf.Word) int { return cmp.Compare(a.X0, b.X0) })
	}
	return rows
}

// cluster groups words with nearly equal vertical centres into rows. Each row has one segment.
func cluster(words []pdf.Word) []textRow {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b pdf.Word) int { return cmp.Compare(a.Y0+a.Y1, b.Y0+b.Y1) })
	var rows []textRow
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
		rows = append(rows, textRow{y0: w.Y0, y1: w.Y1, segments: []segment{{words: []pdf.Word{w}}}})
		middle = m
	}
	return rows
}

// withMarks moves raised numbers to the notes in small type that they begin.
func withMarks(rows []textRow) []textRow {
	var out []textRow
	for i, r := range rows {
		w := r.segments[0].words[0]
		if alone := len(r.segments[0].words) == 1 && strings.Trim(w.Text, noteMarks) == ""; alone && i+1 < len(rows) {
			note := &rows[i+1].segments[0]
			first := slices.MinFunc(note.words, func(a, b pdf.Word) int { return cmp.Compare(a.X0, b.X0) })
			beside := w.X1 <= first.X0+0.5 && first.X0-w.X1 < rows[i+1].height() && w.Y1 > rows[i+1].y0
			if beside && r.height() < 0.85*rows[i+1].height() {
				note.words = append(note.words, w)
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// attach adds a small word to the row of a larger word directly beside it and reports whether there is one.
func attach(rows []textRow, w pdf.Word) bool {
	h := w.Y1 - w.Y0
	from, _ := slices.BinarySearchFunc(rows, w.Y0-60, func(r textRow, y float64) int { return cmp.Compare(r.y0, y) })
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

// segmented splits rows at wide gaps. List markers and heading numbers stay with the text that follows.
func segmented(rows []textRow, gutter float64) []textRow {
	for i, r := range rows {
		var out []segment
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
			out = append(out, segment{x0: w.X0, x1: w.X1, words: []pdf.Word{w}})
		}
		rows[i].segments = out
	}
	return rows
}

// stretchedGap returns the word gap of a justified line, whose gaps are all nearly equal, or 0 for other lines.
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

// twice reports whether b is the same word as a drawn over it to look bold.
func twice(a, b pdf.Word) bool {
	return a.Text == b.Text && math.Abs(a.X0-b.X0) < 0.2*(a.Y1-a.Y0) && math.Abs(a.Y0-b.Y0) < 0.2*(a.Y1-a.Y0)
}

const bulletMarks = "•◦▪▸►●○■□–—-*∙‣⁃·"

// markReach returns the gap factor up to which a segment joins the next: 4 after a mark, 1.7 after a bare number.
func markReach(words []pdf.Word) float64 {
	switch {
	case len(words) != 1 || !isMark(words[0].Text):
		return 1
	case strings.Trim(words[0].Text, "0123456789") == "":
		return 1.7
	}
	return 4
}

// isMark reports whether a word can precede a list item or heading: "•", "3.", "(a)", "[12]", "2.1.4", "IV.".
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
