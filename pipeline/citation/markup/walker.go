package markup

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Walker copies text, outside code, and asks what becomes of each marker and each address.
type Walker struct {
	Surroundings
	output
	code     Spans // not yet passed
	OnMarker func(start int, g Group) (replacement string, ok bool)
	OnLink   func(dest string, kind LinkKind) Verdict // nil: links, tags and ids without brackets are left alone

	Known    func(dest string) bool        // whether an address is that of a source
	IsMarker func(start int, g Group) bool // whether a group with a link is a marker all the same
	OnTag    func(tag string)              // told of each tag that goes

	tails    map[int]linkTail // by where they begin
	bracket  int              // the ] that comes next; -1 = none does
	lower    string           // the text in lower case, when first needed
	unclosed map[string]bool  // closing tags that do not occur any more
}

// NewWalker returns a walker of a text with this code. It changes nothing until onGroup or judge say so.
func NewWalker(text string, code Spans) *Walker {
	return &Walker{Surroundings: Surroundings{Text: text, MarkerEnd: -1}, output: output{from: text}, code: code,
		tails:    map[int]linkTail{},
		OnMarker: func(int, Group) (string, bool) { return "", false },
		OnTag:    func(string) {},
		IsMarker: func(int, Group) bool { return false }}
}

// Run returns the changed text.
func (w *Walker) Run() string {
	w.out.Grow(len(w.Text) + len(w.Text)/8)
	for i := 0; i < len(w.Text); {
		if code, ok := w.code.At(i); ok {
			w.copy(i, code.End)
			i = code.End
			continue
		}
		if next := w.step(i); next > i {
			i = next
			continue
		}
		_, size := utf8.DecodeRuneInString(w.Text[i:])
		if w.Text[i] == '\\' && i+1 < len(w.Text) && isPunct(w.Text[i+1]) {
			size = 2
		}
		w.copy(i, i+size)
		i += size
	}
	return w.out.String() + w.space
}

// step handles what begins at i; it returns i when that is ordinary text.
func (w *Walker) step(i int) int {
	if w.OnLink != nil {
		if next := w.stepLink(i); next > i {
			return next
		}
	}
	first, _ := utf8.DecodeRuneInString(w.Text[i:])
	if ClosingBracket(first) == 0 {
		return i
	}
	g, ok := ParseGroup(w.Text[:w.plainEnd(i)], i, 0)
	encloses := w.Foreign && len(g.IDs) == 0 && strings.ContainsRune("(（", first) // markers, which come next
	if !ok || encloses || w.isEntryLabel(i) {
		return i
	}
	return w.replace(i, g)
}

// replace puts what onGroup wants in the place of the group at i; it returns i when the group stays.
func (w *Walker) replace(i int, g Group) int {
	if w.MarkerEnd != i && !w.Foreign {
		w.adjacent = nil
	}
	replacement, ok := w.OnMarker(i, g)
	if !ok {
		return i
	}
	w.MarkerEnd = g.End
	if replacement == "" {
		return w.closeGap(g.End)
	}
	w.write(replacement)
	w.outMark = w.out.Len()
	return g.End
}

// isEntryLabel reports whether the bracket at i names an entry of the references: it follows the entry's anchor.
func (w *Walker) isEntryLabel(i int) bool {
	before := strings.TrimRight(w.Text[max(0, i-80):i], " ")
	before, closed := strings.CutSuffix(before, `"></a>`)
	return closed && strings.Contains(before[strings.LastIndexByte(before, '<')+1:], `a id="ref-`)
}

// plainEnd returns how far text reaches from i without code.
func (w *Walker) plainEnd(i int) int {
	if len(w.code) > 0 {
		return max(i, w.code[0].Start)
	}
	return len(w.Text)
}

// output is the rewritten part of a text. White space is held back until the following text is known.
type output struct {
	from     string // the text
	Foreign  bool   // a text from outside: every scheme counts, anchors and ids stay
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
	if marker = o.Cite(marker); marker != "" {
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
func (o *output) settle(v Verdict, start, end int, before, after string) int {
	switch {
	case !v.Keep:
		return o.insert(v.After, end, true)
	case v.Dest != "":
		o.write(before + v.Dest + after)
	default:
		o.copy(start, end)
	}
	return end
}

// Cite returns the markers that are not yet at the end of the output.
func (o *output) Cite(markers ...string) string {
	if o.out.Len() != o.outMark {
		o.adjacent = nil
	}
	var b strings.Builder
	for _, m := range markers {
		if m != "" && o.Fresh(m) {
			b.WriteString(m)
		}
	}
	return b.String()
}

// Fresh reports whether the id does not stand in the same row of markers already.
func (o *output) Fresh(id string) bool {
	if o.adjacent[id] {
		return false
	}
	if o.adjacent == nil {
		o.adjacent = map[string]bool{}
	}
	o.adjacent[id] = true
	return true
}
