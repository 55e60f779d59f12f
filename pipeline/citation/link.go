package citation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// links is what the walker needs to judge addresses. A model may link only what the run has retrieved.
type links struct {
	judge     func(dest string, kind linkKind) verdict // nil: links, tags and ids without brackets are left alone
	known     func(dest string) bool                   // whether an address is that of a source
	isMarker  func(start int, g group) bool            // whether a group with a link is a marker all the same
	allKnown  func(start int, g group) bool            // whether the references have all numbers of a group
	note      func(marker, reason string)              // of tags that go
	foreign   bool                                     // a text from outside: every scheme counts, anchors and ids stay
	addresses map[string]string                        // destinations of [label]: definitions, by folded label
	tails     map[int]linkTail                         // by where they begin
}

// linkKind says how an address is written.
type linkKind int

const (
	linkInline     linkKind = iota // [text](address), and <a href>
	linkBare                       // in running text or in angle brackets
	linkDefinition                 // [label]: address
	linkLabelled                   // [text][label]
)

// verdict says what becomes of an address.
type verdict struct {
	keep  bool   // the link stays
	dest  string // with this address; empty: with its own
	after string // a marker: comes after the text of a link that goes, or in the place of an address that goes
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
	if t, ok := w.links.tails[i]; ok {
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
	case (c == 'C' || c == 'P') && !w.links.foreign:
		return w.bareID(i)
	case w.links.foreign && c|0x20 >= 'a' && c|0x20 <= 'z' || c == 'h' || c == 'H' || c == 'f' || c == 'F' || c == 'w' || c == 'W':
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
	kind := linkInline
	if !ok && w.links.addresses != nil {
		kind = linkLabelled
		dest, end, ok = w.labelled(open, closing)
	}
	if !ok {
		return i
	}
	if g, isGroup := parseGroup(w.text[:w.plainEnd(open)], open, 0); isGroup && w.links.isMarker(open, g) {
		return i
	}
	v := w.links.judge(dest, kind)
	w.tail(closing, linkTail{end, v})
	if v.keep {
		w.copy(i, open+1)
	}
	return open + 1
}

func (w *walker) tail(at int, t linkTail) {
	if w.links.tails == nil {
		w.links.tails = map[int]linkTail{}
	}
	w.links.tails[at] = t
}

// labelled finds the address of [text][label] and [label] among the definitions of the text.
func (w *walker) labelled(open, closing int) (dest string, end int, ok bool) {
	label, end := w.text[open+1:closing], closing+1
	if strings.HasPrefix(w.text[end:], "[") {
		if n := strings.IndexByte(w.text[end:min(len(w.text), end+maxLinkText)], ']'); n > 0 {
			if n > 1 {
				label = w.text[end+1 : end+n]
			}
			end += n + 1
		}
	}
	dest, ok = w.links.addresses[foldLabel(label)]
	return dest, end, ok
}

func foldLabel(label string) string { return strings.ToLower(fold(label)) }

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
		for len(code) > 0 && code[0].end <= j {
			code = code[1:]
		}
		if len(code) > 0 && code[0].start <= j {
			j = code[0].end - 1
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
	for i > 0 && w.text[i-1] == ' ' {
		i--
	}
	return i == 0 || w.text[i-1] == '\n'
}

// definition removes a line such as "[1]: https://example.org", the target of a model's own numbering.
func (w *walker) definition(i, after int) int {
	end := len(w.text)
	if nl := strings.IndexByte(w.text[after:], '\n'); nl >= 0 {
		end = after + nl
	}
	dest := definedAddress(w.text[after:end])
	if !isAddress(dest) && !(w.links.foreign && hasScheme(dest)) {
		return i
	}
	if v := w.links.judge(dest, linkDefinition); v.keep && w.links.foreign {
		return i
	}
	w.space = ""
	if w.links.foreign {
		return w.gone(end)
	}
	return end
}

// definedAddress returns the address of what follows "[label]:".
func definedAddress(rest string) string {
	dest, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return strings.Trim(dest, "<>")
}

// scheme returns the scheme that a destination begins with, in lower case. A name with a dot in it is a file.
func scheme(s string) string {
	for i := 0; i < len(s) && i < 32; i++ {
		switch c := s[i]; {
		case c == ':' && i > 0:
			return strings.ToLower(s[:i])
		case alnumASCII(c) && (i > 0 || !isDigit(c)) || i > 0 && (c == '+' || c == '-'):
		default:
			return ""
		}
	}
	return ""
}

func hasScheme(s string) bool { return scheme(s) != "" }

// hasAuthority reports whether s begins with a scheme and "://".
func hasAuthority(s string) bool {
	name := scheme(s)
	return name != "" && strings.HasPrefix(s[len(name):], "://")
}

// wraps reports whether s is an address within another scheme: "blob:https://...".
func wraps(s string) bool {
	name := scheme(s)
	return (name == "blob" || name == "view-source" || name == "filesystem") && hasAuthority(s[len(name)+1:])
}

// isUnspaced reports whether r belongs to a script that is written without spaces.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isAddress(s string) bool {
	for _, prefix := range []string{"http://", "https://", "ftp://", "//", "www."} {
		if foldPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// activeTags load, run or link something when a report is shown as HTML. Others are left to the program that shows it.
var activeTags = map[string]bool{"a": true, "img": true, "script": true, "style": true, "iframe": true, "object": true,
	"embed": true, "form": true, "input": true, "button": true, "link": true, "meta": true, "base": true, "svg": true,
	"video": true, "audio": true, "source": true}

// angle handles <https://example.org> and HTML tags.
func (w *walker) angle(i int) int {
	rest := w.text[i+1 : min(len(w.text), i+maxLinkText)]
	end := strings.IndexAny(rest, "<>")
	if end <= 0 || rest[end] != '>' {
		return i
	}
	inside, next := rest[:end], i+end+2
	if (isAddress(inside) || w.links.foreign && hasScheme(inside)) && !strings.ContainsAny(inside, " \n") {
		v := w.links.judge(inside, linkBare)
		switch {
		case v.keep && v.dest != "":
			w.write("<" + v.dest + ">")
		case v.keep:
			w.copy(i, next)
		default:
			return w.insert(v.after, next, true)
		}
		return next
	}
	name := strings.ToLower(strings.TrimPrefix(inside, "/"))
	if cut := strings.IndexFunc(name, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }); cut >= 0 {
		name = name[:cut]
	}
	if w.links.foreign {
		return w.foreignTag(i, next, name, inside)
	}
	if !activeTags[name] {
		return i
	}
	if inside[0] != '/' {
		w.links.note(w.text[i:next], ReasonMarkup)
	}
	return next
}

// bareURL handles an address in running text.
func (w *walker) bareURL(i int) int {
	if !isAddress(w.text[i:]) && !(w.links.foreign && (hasAuthority(w.text[i:]) || wraps(w.text[i:]))) {
		return i
	}
	before, _ := utf8.DecodeLastRuneInString(w.text[:i])
	if i > 0 && (isWord(before) || strings.ContainsRune("/.-@:", before)) && !(w.links.foreign && hasAuthority(w.text[i:])) {
		return i
	}
	end := addressEnd(w.text, i, w.plainEnd(i))
	address := strings.TrimRight(w.text[i:end], ".,;:!?'*_~")
	if strings.HasPrefix(w.text[i+len(address):end], "...") { // cut short, or the end of a sentence
		address = w.text[i : i+len(address)+3]
	}
	if len(address) < len("www.x") {
		w.copy(i, i+len(address))
		return i + len(address)
	}
	if han := strings.IndexFunc(address, isUnspaced); han > 0 && !w.links.known(address) {
		address = address[:han] // a script without spaces: words may follow the address at once
	}
	v := w.judgeBare(address)
	end = i + len(address)
	switch {
	case v.keep && v.dest != "":
		w.write(v.dest)
	case v.keep:
		w.copy(i, end)
	default:
		return w.insert(v.after, end, true)
	}
	return end
}

func (w *walker) judgeBare(address string) verdict {
	if foldPrefix(address, "www.") {
		address = "https://" + address
	}
	return w.links.judge(address, linkBare)
}

// addressEnd returns where the address that begins at i ends: at white space, at a bracket that it does not open, at
// what no address holds. Punctuation at its end is still in it.
func addressEnd(s string, i, limit int) int {
	var open []rune
	for end := i; end < limit; {
		r, size := utf8.DecodeRuneInString(s[end:])
		if r <= ' ' || r == 0x7f || r == '\u00a0' || strings.ContainsRune(addressStops, r) {
			return end
		}
		switch r {
		case '[':
			if !strings.ContainsRune(s[i:end], '?') && !strings.HasSuffix(s[i:end], "://") {
				return end
			}
			open = append(open, r)
		case '(':
			open = append(open, r)
		case ')', ']':
			if len(open) == 0 || (open[len(open)-1] == '(') != (r == ')') {
				return end
			}
			open = open[:len(open)-1]
		}
		end += size
	}
	return limit
}

// bareID handles an id in running text, "as CIT-3-01 shows". Only the exact form counts: people write "Plan-9".
func (w *walker) bareID(i int) int {
	id, n := scanID(w.text[i:w.plainEnd(i)])
	if n == 0 || w.text[i:i+n] != id.String() {
		return i
	}
	if before, _ := utf8.DecodeLastRuneInString(w.text[:i]); i > 0 && (isWord(before) || strings.ContainsRune("/#-.@=", before)) {
		return i
	}
	if after, _ := utf8.DecodeRuneInString(w.text[i+n:]); i+n < len(w.text) && (after == '-' || after == '/' || after == '_') {
		return i
	}
	return w.replace(i, group{end: i + n, ids: []ID{id}})
}

// addressStops are characters that no address holds.
const addressStops = "<>\"`|{}\\。，；：！？（）【】《》“”、"
