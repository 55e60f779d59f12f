package citation

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// walker copies text, outside code, and asks what becomes of each marker and each address.
type walker struct {
	surroundings
	output
	code    spans // not yet passed
	onGroup func(start int, g group) (replacement string, ok bool)
	judge   func(dest string, kind linkKind) verdict // nil: links, tags and ids without brackets are left alone

	known    func(dest string) bool        // whether an address is that of a source
	isMarker func(start int, g group) bool // whether a group with a link is a marker all the same
	note     func(marker, reason string)   // of tags that go

	tails    map[int]linkTail // by where they begin
	bracket  int              // the ] that comes next; -1 = none does
	lower    string           // the text in lower case, when first needed
	unclosed map[string]bool  // closing tags that do not occur any more
}

// newWalker returns a walker of a text with this code. It changes nothing until onGroup or judge say so.
func newWalker(text string, code spans) *walker {
	return &walker{surroundings: surroundings{text: text, markerEnd: -1}, output: output{from: text}, code: code,
		tails:    map[int]linkTail{},
		onGroup:  func(int, group) (string, bool) { return "", false },
		note:     func(string, string) {},
		isMarker: func(int, group) bool { return false }}
}

// run returns the changed text.
func (w *walker) run() string {
	w.out.Grow(len(w.text) + len(w.text)/8)
	for i := 0; i < len(w.text); {
		if code, ok := w.code.at(i); ok {
			w.copy(i, code.end)
			i = code.end
			continue
		}
		if next := w.step(i); next > i {
			i = next
			continue
		}
		_, size := utf8.DecodeRuneInString(w.text[i:])
		if w.text[i] == '\\' && i+1 < len(w.text) && isPunct(w.text[i+1]) {
			size = 2
		}
		w.copy(i, i+size)
		i += size
	}
	return w.out.String() + w.space
}

// step handles what begins at i; it returns i when that is ordinary text.
func (w *walker) step(i int) int {
	if w.judge != nil {
		if next := w.stepLink(i); next > i {
			return next
		}
	}
	first, _ := utf8.DecodeRuneInString(w.text[i:])
	if closingBracket(first) == 0 {
		return i
	}
	g, ok := parseGroup(w.text[:w.plainEnd(i)], i, 0)
	encloses := w.external && len(g.ids) == 0 && strings.ContainsRune("(（", first) // markers, which come next
	if !ok || encloses || w.isEntryLabel(i) {
		return i
	}
	return w.replace(i, g)
}

// replace puts what onGroup wants in the place of the group at i; it returns i when the group stays.
func (w *walker) replace(i int, g group) int {
	if w.markerEnd != i && !w.external {
		w.adjacent = nil
	}
	replacement, ok := w.onGroup(i, g)
	if !ok {
		return i
	}
	w.markerEnd = g.end
	if replacement == "" {
		return w.closeGap(g.end)
	}
	w.write(replacement)
	w.outMark = w.out.Len()
	return g.end
}

// isEntryLabel reports whether the bracket at i names an entry of the references: it follows the entry's anchor.
func (w *walker) isEntryLabel(i int) bool {
	before := strings.TrimRight(w.text[max(0, i-80):i], " ")
	before, closed := strings.CutSuffix(before, `"></a>`)
	return closed && strings.Contains(before[strings.LastIndexByte(before, '<')+1:], `a id="ref-`)
}

// plainEnd returns how far text reaches from i without code.
func (w *walker) plainEnd(i int) int {
	if len(w.code) > 0 {
		return max(i, w.code[0].start)
	}
	return len(w.text)
}

// output is the rewritten part of a text. White space is held back until the following text is known.
type output struct {
	from     string // the text
	external bool   // a text from outside: every scheme counts, anchors and ids stay
	out      bytes.Buffer
	space    string          // white space held back
	outMark  int             // where the last marker ends in out
	adjacent map[string]bool // ids of the markers that end there
}

// copy takes over input, and holds back white space.
func (o *output) copy(start, end int) {
	s := o.from[start:end]
	if strings.Trim(s, " \t\u00a0\u202f\u3000") == "" {
		o.space += s
		return
	}
	o.write(s)
}

// write replaces the skipped input by text.
func (o *output) write(s string) {
	o.out.WriteString(o.space)
	o.space = ""
	o.out.WriteString(s)
}

// insert puts a marker, or nothing, in the place of what ends at next, and returns where to go on. gone: no text stays
// of what was there.
func (o *output) insert(marker string, next int, gone bool) int {
	if marker = o.cite(marker); marker != "" {
		if !gone {
			o.space = " "
		}
		o.write(marker)
		o.outMark = o.out.Len()
		return next
	}
	if gone {
		return o.closeGap(next)
	}
	return next
}

// settle carries out a verdict on the address, without a text of its own, between start and end: what comes before and
// after a new address is given. It returns where to go on.
func (o *output) settle(v verdict, start, end int, before, after string) int {
	switch {
	case !v.keep:
		return o.insert(v.after, end, true)
	case v.dest != "":
		o.write(before + v.dest + after)
	default:
		o.copy(start, end)
	}
	return end
}

// cite returns the markers that are not yet at the end of the output.
func (o *output) cite(markers ...string) string {
	if o.out.Len() != o.outMark {
		o.adjacent = nil
	}
	var b strings.Builder
	for _, m := range markers {
		if m != "" && o.fresh(m) {
			b.WriteString(m)
		}
	}
	return b.String()
}

// fresh reports whether the id does not stand in the same row of markers already.
func (o *output) fresh(id string) bool {
	if o.adjacent[id] {
		return false
	}
	if o.adjacent == nil {
		o.adjacent = map[string]bool{}
	}
	o.adjacent[id] = true
	return true
}
