package pdflayout

import (
	"math"
	"strings"
	"unicode/utf8"
)

// monospaced returns the character width of lines in a monospaced font, keyed by index. Only lines with enough letters
// count, because digits have equal widths in most fonts.
func monospaced(lines []textLine) map[int]float64 {
	ratios := map[int]int{}
	widths := make([]float64, len(lines))
	for i, l := range lines {
		width, letters, words := uniform(l)
		widths[i] = width
		if words >= 3 && letters >= 10 && width > 0 {
			ratios[int(math.Round(width/l.size*100))]++
		}
	}
	out := map[int]float64{}
	for i, l := range lines {
		if widths[i] <= 0 {
			continue
		}
		k := int(math.Round(widths[i] / l.size * 100))
		if typewritten(l) || ratios[k-1]+ratios[k]+ratios[k+1] >= 3 {
			out[i] = widths[i]
		}
	}
	if len(out)*3 > len(lines)*2 { // the whole document is typewritten, so the font does not indicate code
		return nil
	}
	return out
}

// uniform returns the character width of a line, or 0 if it varies, and the numbers of letters and words measured.
func uniform(l textLine) (width float64, letters, words int) {
	if l.cells != nil || l.size <= 0 {
		return 0, 0, 0
	}
	least, most := math.Inf(1), 0.0
	for _, w := range l.words {
		n := utf8.RuneCountInString(w.Text)
		cw := (w.X1 - w.X0) / float64(n)
		if n < 2 {
			continue
		}
		least, most = min(least, cw), max(most, cw)
		words++
		for _, r := range w.Text {
			if r >= 'A' && r <= 'z' {
				letters++
			}
		}
	}
	if words == 0 || most-least > 0.025*most {
		return 0, letters, words
	}
	return (least + most) / 2, letters, words
}

// typewritten reports whether all words of a line are in fonts that declare themselves monospaced.
func typewritten(l textLine) bool {
	for _, w := range l.words {
		if !w.Mono {
			return false
		}
	}
	return len(l.words) > 0
}

// codeLines returns the number of code lines from line i on, or 0 for prose. Fewer than three lines count only if one
// has several words or is typewritten.
func (w *writer) codeLines(i int) int {
	n, sure := 0, false
	for k := i; k < len(w.lines); k++ {
		cw, ok := w.mono[k]
		if !ok && k > i && w.lines[k].cells == nil { // a bracket on its own line
			cw = (w.lines[k].x1 - w.lines[k].x0) / float64(max(1, utf8.RuneCountInString(w.lines[k].text)))
			ok = len(w.lines[k].words) == 1 && utf8.RuneCountInString(w.lines[k].text) == 1
		}
		if _, heading := w.levels[k]; !ok || heading || math.Abs(cw-w.mono[i]) > 0.02*cw {
			break
		}
		if k > i && !w.lines[k].below(w.lines[k-1], 2*w.lines[k].size) {
			break
		}
		_, letters, words := uniform(w.lines[k])
		sure = sure || words >= 3 && letters >= 8 || typewritten(w.lines[k])
		n++
	}
	if !sure && n < 3 {
		return 0
	}
	return n
}

// code returns n lines from line i on as text, with their indentation and spacing restored.
func (w *writer) code(i, n int) string {
	left, width := math.Inf(1), w.mono[i]
	for _, l := range w.lines[i : i+n] {
		left = min(left, l.x0)
	}
	var b strings.Builder
	for k, l := range w.lines[i : i+n] {
		if k > 0 {
			b.WriteByte('\n')
			if l.y0-w.lines[i+k-1].y0 > 1.7*w.pitch*l.size {
				b.WriteByte('\n')
			}
		}
		at := 0
		for j, word := range l.words {
			column := min(int(math.Round((word.X0-left)/width)), 400)
			if j > 0 && column <= at && word.X0-l.words[j-1].X1 > 0.3*width {
				column = at + 1
			}
			b.WriteString(strings.Repeat(" ", max(0, column-at)))
			text := strings.ReplaceAll(fold(word.Text), "\u00ad", "-")
			b.WriteString(text)
			at = max(at, column) + utf8.RuneCountInString(text)
		}
	}
	return b.String()
}
