package citation

import "strings"

// linkKind says how an address is written.
type linkKind int

const (
	linkInline     linkKind = iota // [text](address), and <a href>
	linkBare                       // in running text or in angle brackets
	linkDefinition                 // [label]: address
)

// verdict is the decision on an address.
type verdict struct {
	keep  bool   // the link stays
	dest  string // the new address; empty = unchanged
	after string // the marker that follows the text of a removed link, or replaces a removed address
}

// linkTail is the end of a link, "](destination)", reached when its text has been copied.
type linkTail struct {
	end int
	verdict
}

// maxLinkText bounds the search for the end of a link's text, in bytes.
const maxLinkText = 1000

// stepLink handles links, images, definitions, addresses, tags and ids without brackets that begin at i; it returns i
// when nothing of that kind begins there.
func (w *walker) stepLink(i int) int {
	if t, ok := w.tails[i]; ok {
		switch {
		case !t.keep:
			w.insert(t.after, t.end, false)
			return t.end
		case t.dest != "":
			w.write("](" + t.dest + ")")
		default:
			w.copy(i, t.end)
		}
		return t.end
	}
	switch c := w.text[i]; {
	case c == '[' || c == '!' && strings.HasPrefix(w.text[i+1:], "["):
		return w.bracketed(i)
	case c == '<':
		return w.angle(i)
	case (c == 'C' || c == 'P') && !w.external:
		return w.bareID(i)
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return w.bareURL(i)
	}
	return i
}

// bracketed handles [text](destination), ![text](destination) and [label]: destination at the start of a line.
func (w *walker) bracketed(i int) int {
	open := i
	if w.text[i] == '!' {
		open++
	}
	closing := w.linkTextEnd(open)
	if closing < 0 {
		return i
	}
	if strings.HasPrefix(w.text[closing:], "]:") && w.startsLine(i) && open == i {
		return w.definition(i, closing+2)
	}
	dest, end, ok := linkDestination(w.text, closing+1)
	if !ok {
		return i
	}
	if g, isGroup := parseGroup(w.text[:w.plainEnd(open)], open, 0); isGroup && w.isMarker(open, g) {
		return i
	}
	v := w.judge(dest, linkInline)
	label := w.text[open+1 : closing]
	empty := strings.TrimSpace(label) == "" || v.after == "" && isOnlyAddress(label)
	if !v.keep && (open > i || w.external && empty) { // what an image shows goes with it
		return w.insert(v.after, end, true)
	}
	w.tails[closing] = linkTail{end, v}
	if v.keep {
		w.copy(i, open+1)
	}
	return open + 1
}

// linkTextEnd returns the position of the ] that closes the [ at open, and -1 when there is none in this paragraph.
func (w *walker) linkTextEnd(open int) int {
	if w.bracket < open && w.bracket >= 0 { // most brackets that are not closed have no end near by
		if w.bracket = strings.IndexByte(w.text[open:], ']'); w.bracket >= 0 {
			w.bracket += open
		}
	}
	if w.bracket < 0 || w.bracket >= open+maxLinkText {
		return -1
	}
	code, depth := w.code, 0
	for j := open; j < len(w.text) && j < open+maxLinkText; j++ {
		if c, ok := code.at(j); ok {
			j = c.end - 1
			continue
		}
		switch w.text[j] {
		case '\\':
			j++
		case '\n':
			if strings.HasPrefix(w.text[j+1:], "\n") {
				return -1
			}
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

func (w *walker) startsLine(i int) bool {
	before := strings.TrimRight(w.text[:i], " ")
	return before == "" || strings.HasSuffix(before, "\n")
}

// definition removes a line such as "[1]: https://example.org", the target of a model's own numbering.
func (w *walker) definition(i, after int) int {
	line, _, _ := strings.Cut(w.text[after:], "\n")
	dest, end := definedAddress(line), after+len(line)
	if !isAddress(dest) && !(w.external && scheme(dest) != "") {
		return i
	}
	if v := w.judge(dest, linkDefinition); v.keep && w.external {
		return i
	}
	w.space = ""
	if w.external {
		return w.closeGap(end)
	}
	return end
}

// definedAddress returns the address of what follows "[label]:".
func definedAddress(rest string) string {
	dest, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return strings.Trim(dest, "<>")
}
