package markup

import "strings"

// LinkKind says how an address is written.
type LinkKind int

const (
	linkInline LinkKind = iota // [text](address), and <a href>
	Bare                       // in running text or in angle brackets
	Definition                 // [label]: address
)

// Verdict is the decision on an address.
type Verdict struct {
	Keep  bool   // the link stays
	Dest  string // the new address; empty = unchanged
	After string // the marker that follows the text of a removed link, or replaces a removed address
}

// linkTail is the end of a link, "](destination)", reached when its text has been copied.
type linkTail struct {
	end int
	Verdict
}

// maxLinkText bounds the search for the end of a link's text, in bytes.
const maxLinkText = 1000

// stepLink handles links, images, definitions, addresses, tags and ids without brackets that begin at i; it returns i
// when nothing of that kind begins there.
func (w *Walker) stepLink(i int) int {
	if t, ok := w.tails[i]; ok {
		switch {
		case !t.Keep:
			w.insert(t.After, t.end, false)
			return t.end
		case t.Dest != "":
			w.write("](" + t.Dest + ")")
		default:
			w.copy(i, t.end)
		}
		return t.end
	}
	switch c := w.Text[i]; {
	case c == '[' || c == '!' && strings.HasPrefix(w.Text[i+1:], "["):
		return w.bracketed(i)
	case c == '<':
		return w.angle(i)
	case (c == 'C' || c == 'P') && !w.Foreign:
		return w.bareID(i)
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return w.bareURL(i)
	}
	return i
}

// bracketed handles [text](destination), ![text](destination) and [label]: destination at the start of a line.
func (w *Walker) bracketed(i int) int {
	open := i
	if w.Text[i] == '!' {
		open++
	}
	closing := w.linkTextEnd(open)
	if closing < 0 {
		return i
	}
	if strings.HasPrefix(w.Text[closing:], "]:") && w.startsLine(i) && open == i {
		return w.definition(i, closing+2)
	}
	dest, end, ok := linkDestination(w.Text, closing+1)
	if !ok {
		return i
	}
	if g, isGroup := ParseGroup(w.Text[:w.plainEnd(open)], open, 0); isGroup && w.IsMarker(open, g) {
		return i
	}
	v := w.OnLink(dest, linkInline)
	label := w.Text[open+1 : closing]
	empty := strings.TrimSpace(label) == "" || v.After == "" && IsOnlyAddress(label)
	if !v.Keep && (open > i || w.Foreign && empty) { // what an image shows goes with it
		return w.insert(v.After, end, true)
	}
	w.tails[closing] = linkTail{end, v}
	if v.Keep {
		w.copy(i, open+1)
	}
	return open + 1
}

// linkTextEnd returns the position of the ] that closes the [ at open, and -1 when there is none in this paragraph.
func (w *Walker) linkTextEnd(open int) int {
	if w.bracket < open && w.bracket >= 0 { // most brackets that are not closed have no end near by
		if w.bracket = strings.IndexByte(w.Text[open:], ']'); w.bracket >= 0 {
			w.bracket += open
		}
	}
	if w.bracket < 0 || w.bracket >= open+maxLinkText {
		return -1
	}
	code, depth := w.code, 0
	for j := open; j < len(w.Text) && j < open+maxLinkText; j++ {
		if c, ok := code.At(j); ok {
			j = c.End - 1
			continue
		}
		switch w.Text[j] {
		case '\\':
			j++
		case '\n':
			if strings.HasPrefix(w.Text[j+1:], "\n") {
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

func (w *Walker) startsLine(i int) bool {
	before := strings.TrimRight(w.Text[:i], " ")
	return before == "" || strings.HasSuffix(before, "\n")
}

// definition removes a line such as "[1]: https://example.org", the target of a model's own numbering.
func (w *Walker) definition(i, after int) int {
	line, _, _ := strings.Cut(w.Text[after:], "\n")
	dest, end := definedAddress(line), after+len(line)
	if !isAddress(dest) && !(w.Foreign && Scheme(dest) != "") {
		return i
	}
	if v := w.OnLink(dest, Definition); v.Keep && w.Foreign {
		return i
	}
	w.space = ""
	if w.Foreign {
		return w.closeGap(end)
	}
	return end
}

// definedAddress returns the address of what follows "[label]:".
func definedAddress(rest string) string {
	dest, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return strings.Trim(dest, "<>")
}

// IsOnlyAddress reports whether a line consists of an address only.
func IsOnlyAddress(line string) bool {
	line = strings.Trim(strings.TrimLeft(strings.TrimSpace(line), "-*+• "), "<>`* ")
	return isAddress(line) && !strings.ContainsAny(line, " \t")
}
