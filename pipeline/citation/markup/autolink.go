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

// IsOnlyAddress reports whether a line consists of an address only.
func IsOnlyAddress(line string) bool {
	line = strings.Trim(strings.TrimLeft(strings.TrimSpace(line), "-*+• "), "<>`* ")
	return isAddress(line) && !strings.ContainsAny(line, " \t")
}
