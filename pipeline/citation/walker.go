package citation

import (
	"strings"
	"unicode/utf8"
)

// walker copies text, outside code, and asks what becomes of each marker group.
type walker struct {
	surroundings
	output
	code    []span // not yet passed
	onGroup func(start int, g group) (replacement string, ok bool)
	links   links
	bracket int // the ] that comes next; -1 = none does
}

// newWalker returns a walker of a text with this code. It changes nothing until onGroup or links.judge say so.
func newWalker(text string, code []span) *walker {
	return &walker{surroundings: surroundings{text: text, markerEnd: -1}, output: output{from: text}, code: code,
		onGroup: func(int, group) (string, bool) { return "", false },
		links: links{note: func(string, string) {}, known: func(string) bool { return false },
			isMarker: func(int, group) bool { return false }, allKnown: func([]int) bool { return false }}}
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
	if w.foreign {
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
	if !ok || w.isLabel(i) || w.foreign && len(g.ids) == 0 && (first == '(' || first == '（') {
		return i
	}
	if w.foreign {
		g = throughMarker(w.text[:w.plainEnd(i)], g)
	}
	return w.replace(i, g)
}

// replace puts what onGroup wants in the place of the group at i; it returns i when the group stays.
func (w *walker) replace(i int, g group) int {
	if w.markerEnd != i && !w.foreign {
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
