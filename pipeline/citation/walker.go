package citation

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// walker copies text, outside code, and asks what becomes of each marker group.
type walker struct {
	text    string
	code    []span // not yet passed
	onGroup func(start int, g group) (replacement string, ok bool)
	links   links // zero: links, tags and ids without brackets are left as they are

	out       bytes.Buffer
	space     string          // white space held back until it is clear what follows
	markerEnd int             // where the last replaced group ends in text; -1 = none yet
	adjacent  map[string]bool // ids of the groups that end there
	outMark   int             // where the last marker ends in out
	bracket   int             // the ] that comes next; -1 = none does
	math      []span          // found when first needed
	mathFound bool
}

// run returns the changed text.
func (w *walker) run() string {
	w.out.Grow(len(w.text) + len(w.text)/8)
	for i := 0; i < len(w.text); {
		if len(w.code) > 0 && w.code[0].start <= i {
			if end := w.code[0].end; end > i {
				w.copy(i, end)
				i = end
			}
			w.code = w.code[1:]
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
	if w.links.foreign {
		if next := w.raisedNumber(i); next > i {
			return next
		}
	}
	if w.links.judge != nil {
		if next := w.stepLink(i); next > i {
			return next
		}
	}
	first, _ := utf8.DecodeRuneInString(w.text[i:])
	if closingBracket(first) == 0 {
		return i
	}
	g, ok := parseGroup(w.text[:w.plainEnd(i)], i, 0)
	// what it encloses comes next
	if !ok || w.isLabel(i) || w.links.foreign && len(g.ids) == 0 && (first == '(' || first == '（') {
		return i
	}
	if w.links.foreign {
		g = throughMarker(w.text[:w.plainEnd(i)], g)
	}
	return w.replace(i, g)
}

// replace puts what onGroup wants in the place of the group at i; it returns i when the group stays.
func (w *walker) replace(i int, g group) int {
	if w.markerEnd != i && !w.links.foreign {
		w.adjacent = nil
	}
	replacement, ok := w.onGroup(i, g)
	if !ok {
		return i
	}
	w.markerEnd = g.end
	if replacement == "" {
		return w.gone(g.end)
	}
	w.write(replacement)
	w.outMark = w.out.Len()
	return g.end
}

// fresh reports whether the id does not stand in the same row of markers already.
func (w *walker) fresh(id string) bool {
	if w.adjacent[id] {
		return false
	}
	if w.adjacent == nil {
		w.adjacent = map[string]bool{}
	}
	w.adjacent[id] = true
	return true
}

// isLabel reports whether the bracket at i names an entry of the references: it follows the entry's anchor.
func (w *walker) isLabel(i int) bool {
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

func (w *walker) copy(start, end int) {
	s := w.text[start:end]
	if strings.Trim(s, " \t\u00a0\u202f\u3000") == "" {
		w.space += s
		return
	}
	w.out.WriteString(w.space)
	w.space = ""
	w.out.WriteString(s)
}

// write puts text in the place of what is passed over.
func (w *walker) write(s string) {
	w.out.WriteString(w.space)
	w.space = ""
	w.out.WriteString(s)
}

// insert puts a marker, or nothing, in the place of what ends at next, and returns where to go on. gone: no text stays
// of what was there.
func (w *walker) insert(marker string, next int, gone bool) int {
	if marker = w.cite(marker); marker != "" {
		if !gone {
			w.space = " "
		}
		w.write(marker)
		w.outMark = w.out.Len()
		return next
	}
	if gone {
		return w.gone(next)
	}
	return next
}

// cite returns those of the markers that do not stand at the end of what is written already.
func (w *walker) cite(markers ...string) string {
	if w.out.Len() != w.outMark {
		w.adjacent = nil
	}
	var b strings.Builder
	for _, m := range markers {
		if m != "" && w.fresh(m) {
			b.WriteString(m)
		}
	}
	return b.String()
}
