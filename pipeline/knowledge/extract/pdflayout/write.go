package pdflayout

import (
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/document"
)

// maxParagraph is the size in bytes after which a paragraph ends with the current line. Readable text has no longer
// paragraphs.
const maxParagraph = 20_000

// writer converts lines to headings, paragraphs, items, code and tables.
type writer struct {
	b      *document.Builder
	lines  []textLine
	levels map[int]headingMark
	skip   map[int]bool // indexes of lines to omit
	body   float64
	pitch  float64         // usual line distance, in line heights
	mono   map[int]float64 // character width of monospaced lines, by index
	words  map[string]bool // lower-case words of the whole document, used to resolve hyphens
	starts []int           // Document.Pages; -1 for pages not reached yet

	marker string // of the current item
	parts  strings.Builder
	breaks []pageBreak
	first  textLine // first line of the current paragraph
	last   textLine
	count  int // number of its lines
}

// pageBreak is the start of a page within a paragraph.
type pageBreak struct{ page, at int }

func newWriter(lines []textLine, pages int, body float64) *writer {
	w := &writer{
		b: document.NewBuilder(), lines: lines, body: body, starts: make([]int, pages), words: map[string]bool{},
	}
	for i := range w.starts {
		w.starts[i] = -1
	}
	w.pitch = usualPitch(lines)
	w.mono = monospaced(lines)
	broken := false // the line before ends inside a word
	for _, l := range lines {
		fields := strings.Fields(textOf(l))
		for i, f := range fields {
			if start := broken; i == 0 && start {
				broken = false
				continue
			}
			if broken = i+1 == len(fields) && strings.HasSuffix(f, "-"); !broken {
				w.words[bare(f)] = true
				if head, tail, ok := strings.Cut(bare(f), "-"); ok {
					w.words[head+"-"], w.words["-"+tail] = true, true
				}
			}
		}
	}
	return w
}

// usualPitch returns the most frequent distance between adjacent lines of one size, as a multiple of the size.
func usualPitch(lines []textLine) float64 {
	counts, total := map[int]int{}, 0
	for i := 1; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		if d := (b.y0 - a.y0) / b.size; a.page == b.page && d > 0.5 && d < 3 && math.Abs(a.size-b.size) < 0.05*b.size {
			counts[int(d*50)]++
			total++
		}
	}
	best, most := 60, 0
	for k := 25; k < 150; k++ {
		if n := counts[k-1] + counts[k] + counts[k+1]; n > most {
			best, most = k, n
		}
	}
	if total == 0 {
		return 1.2
	}
	return float64(best) / 50
}

func (w *writer) write() {
	for i := 0; i < len(w.lines); {
		l := w.lines[i]
		if m, ok := w.levels[i]; ok {
			w.flush()
			text := ""
			for _, part := range w.lines[i : i+m.lines] {
				text = w.join(text, part.text)
			}
			if len(m.text) > len(text) { // the outline includes a number that is on a separate line in the text
				text = m.text
			}
			w.b.Heading(m.level, text, "")
			i += m.lines
			continue
		}
		if w.skip[i] {
			i++
			continue
		}
		if l.cells != nil {
			w.flush()
			w.block(l.page, func() { w.b.Row(w.joinCells(l.cells)) })
			if i++; i >= len(w.lines) || w.lines[i].cells == nil {
				w.b.EndTable()
			}
			continue
		}
		if n := w.codeLines(i); n > 0 {
			w.flush()
			w.block(l.page, func() { w.b.Code(w.code(i, n)) })
			i += n
			continue
		}
		w.line(l)
		i++
	}
	w.flush()
}

// block calls write and records the page on which its output begins. It returns the start offset of the output.
func (w *writer) block(page int, write func()) int {
	before := w.b.Len()
	write()
	text := w.b.Text()
	for before < len(text) && text[before] == '\n' {
		before++
	}
	if before < len(text) {
		w.reach(page, before)
	}
	return before
}

// reach records that a page, and any page before it without a start, begins at offset at.
func (w *writer) reach(page, at int) {
	for p := page - 1; p >= 0 && w.starts[p] < 0; p-- {
		w.starts[p] = at
	}
}

// pages returns Document.Pages.
func (w *writer) pages() []int {
	for i := range w.starts {
		if w.starts[i] < 0 {
			w.starts[i] = w.b.Len()
		}
	}
	return w.starts
}

// line adds a line to the current paragraph or starts a new one.
func (w *writer) line(l textLine) {
	marker, rest := itemMarker(l.text)
	if w.count > 0 && (w.parts.Len() > maxParagraph || w.newParagraph(l, marker)) {
		w.flush()
	}
	if w.count == 0 {
		w.first, w.marker = l, marker
		if marker != "" {
			w.parts.WriteString(rest)
		} else {
			w.parts.WriteString(l.text)
		}
	} else {
		joined := w.join(w.parts.String(), l.text)
		if l.page != w.last.page {
			w.breaks = append(w.breaks, pageBreak{l.page, len(joined) - len(l.text)})
		}
		w.parts.Reset()
		w.parts.WriteString(joined)
	}
	w.last = l
	w.count++
}

var itemNumber = regexp.MustCompile(`^(\d{1,3})[.)]+$`)

// itemMarker splits "• text" and "3. text" into a marker of the common form and the text.
func itemMarker(t string) (marker, rest string) {
	head, rest, ok := strings.Cut(t, " ")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" {
		return "", t
	}
	if utf8.RuneCountInString(head) == 1 && strings.Contains(bulletMarks, head) {
		return "-", rest
	}
	if m := itemNumber.FindStringSubmatch(head); m != nil {
		return m[1] + ".", rest
	}
	if len(head) <= 4 && len(head) >= 2 && strings.HasSuffix(head, ")") && isMark(head) {
		return "-", t
	}
	return "", t
}

// newParagraph reports whether a line starts a new paragraph, given the current one.
func (w *writer) newParagraph(l textLine, marker string) bool {
	last := w.last
	size := max(last.size, l.size)
	open := !terminated(last.text)
	ideograph := document.Ideograph(firstRune(l.text))
	pitch := w.pitch * size
	if marker == "" && open && ideograph && fullLines(last, l, pitch, size) {
		return false // full lines of Chinese, where letter case gives no hint
	}
	if l.note || math.Abs(last.size-l.size) > 0.15*size {
		return true
	}
	lower := startsLower(l.text)
	beside := l.x0 > last.right || l.right < last.x0
	if l.page != last.page || l.y0 < last.y0-0.5*size || beside { // the next page or column
		full := ideograph && document.Ideograph(lastRune(last.text)) && last.x1 > last.right-2*size
		goesOn := open && (lower || strings.HasSuffix(last.text, "-") || full)
		return marker != "" || !goesOn
	}
	if l.y0-last.y0 > 1.28*pitch || marker != "" && w.newItem(l, marker, open) {
		return true
	}
	shift := l.x0 - last.x0
	width := last.right - last.left
	switch {
	case w.marker != "" && l.x0 <= w.first.x0+0.3*size && last.x0 > w.first.x0+0.5*size: // end of a list item
		return true
	case lower:
		return false
	case w.count == 1 && w.marker == "" && shift > 0.8*size: // a separate line before an indented paragraph
		return last.x0 < last.left+0.5*size && !open
	case w.count > 1 && (shift > 0.8*size || shift < -0.8*size && w.marker == ""):
		return true
	case !open && last.x1 < last.right-0.15*width:
		return true
	}
	return last.x1 < last.left+0.5*width && !ideograph
}

// fullLines reports whether a line follows another that fills its column, and begins at the edge of the column.
func fullLines(last, l textLine, pitch, size float64) bool {
	follows := l.page == last.page && l.y0 > last.y0 && l.y0-last.y0 < 1.6*pitch
	return follows && last.x1 > last.right-1.5*size && l.x0 < l.left+0.5*size
}

// newItem reports whether a line with a marker begins a list item. Inside a sentence, a number or dash at the start of
// a line may be part of the sentence.
func (w *writer) newItem(l textLine, marker string, open bool) bool {
	if w.marker != "" || !open {
		return true
	}
	bullet := marker == "-" && !strings.ContainsRune("-–—", firstRune(l.text))
	return (bullet || strings.HasSuffix(w.last.text, ":")) && l.x0 != w.last.x0
}

func (w *writer) flush() {
	if w.count == 0 {
		return
	}
	text := w.parts.String()
	page, marker, breaks := w.first.page, w.marker, w.breaks
	w.parts.Reset()
	w.breaks, w.count, w.marker = nil, 0, ""
	text = strings.TrimSpace(strings.ReplaceAll(text, "\u00ad", ""))
	written := document.Clean(text)
	if leaders.MatchString(written) {
		return
	}
	at := w.block(page, func() {
		if marker != "" {
			w.b.Item(marker, written)
		} else {
			w.b.Paragraph(written)
		}
	})
	for _, b := range breaks {
		if end := w.b.Len(); at < end {
			from := end - len(written) + b.at
			for from < end && !utf8.RuneStart(w.b.Text()[from]) {
				from++
			}
			w.reach(b.page, min(max(at, from), end))
		}
	}
}

func (w *writer) joinCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		for line := range strings.SplitSeq(c, "\n") {
			out[i] = w.join(out[i], line)
		}
		out[i] = strings.ReplaceAll(out[i], "\u00ad", "")
	}
	return out
}

// join joins two lines. It removes a hyphen at the end unless the document elsewhere spells the word with a hyphen, or
// has both parts as words and one of them in another compound, but never the whole.
func (w *writer) join(text, next string) string {
	next = strings.TrimSpace(next)
	switch {
	case text == "":
		return next
	case next == "":
		return text
	case strings.HasSuffix(text, "\u00ad"):
		return strings.TrimSuffix(text, "\u00ad") + next
	case document.Ideograph(lastRune(text)) && document.Ideograph(firstRune(next)):
		return text + next
	}
	head := text[strings.LastIndexAny(text, " \u00a0")+1:]
	tail, _, _ := strings.Cut(next, " ")
	if strings.HasSuffix(head, "/") && strings.Contains(head, "://") {
		return text + next
	}
	stem := strings.TrimRight(head, "-‐")
	if stem == head || stem == "" || !unicode.IsLetter(lastRune(stem)) {
		return text + " " + next
	}
	if !startsLower(next) {
		if strings.ContainsAny(head, "/") || unicode.IsUpper(firstRune(next)) && len(stem) > 1 {
			return text + next // a compound of names
		}
		return text + " " + next
	}
	head, tail = bare(stem), bare(tail)
	used := w.words[head+"-"] || w.words["-"+tail] // in another compound
	parts := used && len(tail) > 3 && w.words[head] && w.words[tail]
	compound := parts || w.words[head+"-"+tail] || strings.Contains(stem, "-")
	if compound && !w.words[head+tail] || strings.ContainsAny(stem, "/0123456789@_") {
		return text + next
	}
	return strings.TrimRight(text, "-‐") + next
}

// bare returns a word as it is compared: in lower case, without punctuation.
func bare(s string) string { return strings.ToLower(strings.Trim(s, ".,;:!?()[]\"“”‘’'")) }

func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func lastRune(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }

func startsLower(s string) bool { return unicode.IsLower(firstRune(strings.TrimLeft(s, "(\"“‘'"))) }

// terminated reports whether a line ends with sentence punctuation.
func terminated(s string) bool {
	return strings.ContainsRune(".!?:;。！？：；", lastRune(strings.TrimRight(s, ")]\"”’'»")))
}
