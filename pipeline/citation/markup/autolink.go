package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// Scheme returns the lower-case scheme of a destination. A name with a dot is a file, not a scheme.
func Scheme(s string) string {
	name, _, found := strings.Cut(s[:min(len(s), 32)], ":")
	if !found || name == "" || !AlnumASCII(name[0]) || IsDigit(name[0]) {
		return ""
	}
	for _, c := range []byte(name) {
		if !AlnumASCII(c) && c != '+' && c != '-' {
			return ""
		}
	}
	return strings.ToLower(name)
}

// hasAuthority reports whether s begins with a scheme and "://".
func hasAuthority(s string) bool {
	name := Scheme(s)
	return name != "" && strings.HasPrefix(s[len(name):], "://")
}

// standsClose reports whether r may follow an address without a space, although addresses can contain it.
func standsClose(r rune) bool { return text.CJK(r) || r == '—' || r == '・' }

func isAddress(s string) bool {
	for _, prefix := range []string{"http://", "https://", "ftp://", "//", "www."} {
		if FoldPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// activeTags are the tags that load, run or link something when a report is shown as HTML. Other tags are left alone.
var activeTags = map[string]bool{"a": true, "img": true, "script": true, "style": true, "iframe": true, "object": true,
	"embed": true, "form": true, "input": true, "button": true, "link": true, "meta": true, "base": true, "svg": true,
	"video": true, "audio": true, "source": true}

// tagName is the name of the tag with this inside.
var tagName = regexp.MustCompile(`^/?([a-zA-Z0-9]*)`)

// angle handles <https://example.org> and HTML tags.
func (w *Walker) angle(i int) int {
	rest := w.Text[i+1 : min(len(w.Text), i+maxLinkText)]
	end := strings.IndexAny(rest, "<>")
	if end <= 0 || rest[end] != '>' {
		return i
	}
	inside, next := rest[:end], i+end+2
	if (isAddress(inside) || w.Foreign && Scheme(inside) != "") && !strings.ContainsAny(inside, " \n") {
		return w.settle(w.OnLink(inside, Bare), i, next, "<", ">")
	}
	name := strings.ToLower(tagName.FindStringSubmatch(inside)[1])
	switch {
	case w.Foreign:
		return w.externalTag(i, next, name, inside)
	case !activeTags[name]:
		return i
	case inside[0] != '/':
		w.OnTag(w.Text[i:next])
	}
	return next
}

// bareURL handles an address in running text.
func (w *Walker) bareURL(i int) int {
	anyScheme := w.Foreign && hasAuthority(w.Text[i:])
	if !anyScheme && !isAddress(w.Text[i:]) {
		return i
	}
	if before, _ := utf8.DecodeLastRuneInString(w.Text[:i]); i > 0 && !anyScheme &&
		(isWord(before) || strings.ContainsRune("/.-@:", before)) {
		return i
	}
	end := AddressEnd(w.Text, i, w.plainEnd(i))
	address := strings.TrimRight(w.Text[i:end], AddressMarks)
	if strings.HasPrefix(w.Text[i+len(address):end], "...") { // cut short, or the end of a sentence
		address = w.Text[i : i+len(address)+3]
	}
	if len(address) < len("www.x") {
		w.copy(i, i+len(address))
		return i + len(address)
	}
	if word := strings.IndexFunc(address, standsClose); word > 0 && !w.Known(address) {
		address = address[:word] // words may follow the address at once
	}
	end = i + len(address)
	if FoldPrefix(address, "www.") {
		address = "https://" + address
	}
	return w.settle(w.OnLink(address, Bare), i, end, "", "")
}

// AddressMarks do not end an address, although it can contain them.
const AddressMarks = ".,;:!?'*_~"

// AddressEnd returns the end of the address at i: white space, an unopened bracket, a character that addresses cannot
// contain, or words of a script without spaces before another address. Trailing punctuation is included.
func AddressEnd(s string, i, limit int) int {
	var open []rune
	words := -1
	for end := i; end < limit; {
		r, size := utf8.DecodeRuneInString(s[end:])
		if r == '\\' && end+1 < limit && strings.IndexByte("_*~(&#+=-", s[end+1]) >= 0 { // escaped for Markdown
			end++
			continue
		}
		if endsAddress(r, s[end+size:limit]) {
			return end
		}
		if words < 0 && text.CJK(r) {
			words = end
		}
		if words >= 0 && (strings.HasPrefix(s[end:], "://") || FoldPrefix(s[end:], "www.")) {
			return words
		}
		switch r {
		case ',', ';': // and another address
			if FoldPrefix(s[end+1:limit], "http://") || FoldPrefix(s[end+1:limit], "https://") {
				return end
			}
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

// bareID handles an id in running text, as in "as CIT-3-01 shows". Only the exact form counts, because "Plan-9" is
// text.
func (w *Walker) bareID(i int) int {
	id, n := scanID(w.Text[i:w.plainEnd(i)])
	if n == 0 || w.Text[i:i+n] != id.String() {
		return i
	}
	if before, _ := utf8.DecodeLastRuneInString(w.Text[:i]); i > 0 &&
		(isWord(before) || strings.ContainsRune("/#-.@=", before)) {
		return i
	}
	if after, _ := utf8.DecodeRuneInString(w.Text[i+n:]); i+n < len(w.Text) &&
		(after == '-' || after == '/' || after == '_') {
		return i
	}
	return w.replace(i, Group{End: i + n, IDs: []ID{id}})
}

// AddressStops are the characters that addresses cannot contain.
const AddressStops = "<>\"`|{}\\。，；：！？（）【】《》“”、،؛؟۔।"

// endsAddress reports whether a character, before rest, is white space, a quotation mark, a bracket or another one that
// no address holds. An apostrophe within a word is held.
func endsAddress(r rune, rest string) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(AddressStops, r)
	}
	if r == '‘' || r == '’' {
		next, _ := utf8.DecodeRuneInString(rest)
		return !unicode.IsLetter(next)
	}
	return strings.ContainsRune(AddressStops, r) || unicode.IsSpace(r) ||
		unicode.In(r, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf, unicode.Bidi_Control)
}
