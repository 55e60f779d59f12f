package quantity

import (
	"strings"
	"unicode/utf8"
)

// unit reads the unit at byte at, directly or after a space or a hyphen.
func (p *parser) unit(at int) (u unit, end int, ok bool) {
	next := p.skipSpace(at, 1)
	if next == at && strings.HasPrefix(p.s[at:], "-") {
		next++ // a 10-km run
	}
	word, after := wordAt(p.s, next)
	if after < len(p.s) && (p.s[after] == ' ' || p.s[after] == '-') { // watt-hours, square metres
		second, end := wordAt(p.s, after+1)
		if u, ok := units[strings.ToLower(word+" "+second)]; ok {
			return u, end, true
		}
	}
	if name := p.wide(next); name != "" {
		return units[name], next + len(name), true
	}
	for token := tokenAt(p.s, next); len(token) > 0; { // km/h as a whole, otherwise km
		end := next + len(token)
		if u, ok := lookup(token); ok && !attached(p.s, end) && !digitAt(p.s, end) {
			return u, end, true
		}
		cut := strings.LastIndexAny(token, "/·")
		if cut < 0 {
			break
		}
		token = token[:cut]
	}
	return unit{}, at, false
}

// wide returns the Chinese unit name at byte at, which no space ends, or "" if there is none.
func (p input) wide(at int) (best string) {
	r, _ := utf8.DecodeRuneInString(p.s[at:])
	if r < 0x2e80 || isLetter(r) {
		return ""
	}
	end := at
	for range 4 {
		_, size := utf8.DecodeRuneInString(p.s[end:])
		if end += size; end > len(p.s) || size == 0 {
			break
		}
		if _, ok := units[p.s[at:end]]; ok {
			best = p.s[at:end]
		}
	}
	return best
}

// tokenAt returns the letters and signs of a unit, such as km/h, °C, m², µg/m³.
func tokenAt(s string, i int) string {
	end := i
	for end < len(s) && end-i < 40 {
		r, size := utf8.DecodeRuneInString(s[end:])
		power := end > i && (r == '2' || r == '3') // m2, m3
		if !isLetter(r) && !strings.ContainsRune("°%‰％²³/·€$£¥￥₹×℃℉Ωµμ", r) && !power {
			break
		}
		end += size
	}
	return strings.TrimRight(s[i:end], "/·")
}

// lookup returns the unit of this spelling; names of more than three letters match in any case. It also handles
// quotients of two units.
func lookup(token string) (unit, bool) {
	if u, ok := units[token]; ok {
		return u, true
	}
	if low := strings.ToLower(token); utf8.RuneCountInString(token) > 3 {
		if u, ok := units[low]; ok {
			return u, true
		}
	}
	over, under, ok := strings.Cut(token, "/")
	if !ok || strings.Contains(under, "/") {
		return unit{}, false
	}
	a, okA := units[over]
	b, okB := units[under]
	if !okA || !okB || b.offset != 0 || a.offset != 0 {
		return unit{}, false
	}
	return unit{a.kind, a.base + "/" + b.base, a.factor / b.factor, 0}, true
}
