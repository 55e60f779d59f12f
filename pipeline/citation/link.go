package citation

import (
	"strings"
	"unicode/utf8"
)

// links is what the walker needs to judge addresses. A model may link only what the run has retrieved.
type links struct {
	registry *Registry
	note     func(marker, reason string)
	tails    map[int]linkTail // by where they begin
}

// linkTail is the end of a link, "](destination)", reached when its text has been copied.
type linkTail struct {
	end  int
	keep bool
}

// maxLinkText bounds the search for the end of a link's text, in bytes.
const maxLinkText = 1000

// stepLink handles links, images, definitions, addresses, tags and ids without brackets that begin at i; it returns i
// when nothing of that kind begins there.
func (w *walker) stepLink(i int) int {
	if t, ok := w.links.tails[i]; ok {
		if t.keep {
			w.copy(i, t.end)
		}
		return t.end
	}
	switch c := w.text[i]; {
	case c == '[' || c == '!' && strings.HasPrefix(w.text[i+1:], "["):
		return w.bracketed(i)
	case c == '<':
		return w.angle(i)
	case c == 'C' || c == 'P':
		return w.bareID(i)
	case c == 'h' || c == 'H' || c == 'f' || c == 'F' || c == 'w' || c == 'W':
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
	if g, isGroup := parseGroup(w.text[:w.plainEnd(open)], open, 0); isGroup && len(g.ids) > 0 {
		return i // a marker, judged by its ids
	}
	keep := w.links.registry.HasURL(dest)
	if !keep {
		w.links.note(dest, ReasonUnknownURL)
	}
	if w.links.tails == nil {
		w.links.tails = map[int]linkTail{}
	}
	w.links.tails[closing] = linkTail{end: end, keep: keep}
	if keep {
		w.copy(i, open+1)
	}
	return open + 1
}

// linkTextEnd returns the position of the ] that closes the [ at open, and -1 when there is none in this paragraph.
func (w *walker) linkTextEnd(open int) int {
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
	return strings.Trim(w.text[strings.LastIndexByte(w.text[:i], '\n')+1:i], " ") == ""
}

// definition removes a line such as "[1]: https://example.org", the target of a model's own numbering.
func (w *walker) definition(i, after int) int {
	end := len(w.text)
	if nl := strings.IndexByte(w.text[after:], '\n'); nl >= 0 {
		end = after + nl
	}
	dest, _, _ := strings.Cut(strings.TrimSpace(w.text[after:end]), " ")
	if !isAddress(strings.Trim(dest, "<>")) {
		return i
	}
	w.links.note(strings.Trim(dest, "<>"), ReasonUnknownURL)
	w.space = ""
	return end
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
	if isAddress(inside) && !strings.ContainsAny(inside, " \n") {
		if w.links.registry.HasURL(inside) {
			w.copy(i, next)
			return next
		}
		w.links.note(inside, ReasonUnknownURL)
		w.dropSpace(next)
		return next
	}
	name := strings.ToLower(strings.TrimPrefix(inside, "/"))
	if cut := strings.IndexFunc(name, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }); cut >= 0 {
		name = name[:cut]
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
	if !isAddress(w.text[i:]) {
		return i
	}
	if before, _ := utf8.DecodeLastRuneInString(w.text[:i]); i > 0 && (isWord(before) || strings.ContainsRune("/.-@:", before)) {
		return i
	}
	end := i
	parens := 0
	for end < w.plainEnd(i) {
		r, size := utf8.DecodeRuneInString(w.text[end:])
		if r <= ' ' || strings.ContainsRune("<>\"`|[]{}\\。，；：！？（）【】《》“”、\u00a0", r) {
			break
		}
		if r == '(' {
			parens++
		}
		if r == ')' {
			if parens--; parens < 0 {
				break
			}
		}
		end += size
	}
	address := strings.TrimRight(w.text[i:end], ".,;:!?'*_~")
	end = i + len(address)
	full := address
	if foldPrefix(full, "www.") {
		full = "https://" + full
	}
	if len(address) < len("www.x") || w.links.registry.HasURL(full) {
		w.copy(i, end)
		return end
	}
	w.links.note(address, ReasonUnknownURL)
	w.dropSpace(end)
	return end
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
