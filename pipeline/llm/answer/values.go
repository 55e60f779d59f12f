package answer

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// Values reads a JSON object while it is written, and returns its string values, one per line, without their names.
// It ignores text before the object and invalid JSON, because Schema.Extract reads the complete answer.
type Values struct {
	nesting []byte // open { or [, outermost first
	isName  bool   // the next string is a name
	inside  bool   // within a string
	escape  string // escape that has begun
	high    rune   // first half of a surrogate pair
}

// Next reads the next piece and returns its addition to the texts.
func (v *Values) Next(piece string) string {
	var out strings.Builder
	for i := range len(piece) {
		c := piece[i]
		switch {
		case !v.inside:
			v.outside(c)
		case v.escape != "":
			v.escape += string(rune(c))
			if r, whole := v.escaped(); whole && !v.isName {
				out.WriteString(r)
			}
		case c == '\\':
			v.escape = `\`
		case c == '"':
			v.inside = false
			if !v.isName {
				out.WriteByte('\n')
			}
		case !v.isName:
			out.WriteByte(c)
		}
	}
	return out.String()
}

func (v *Values) outside(c byte) {
	depth := len(v.nesting)
	switch c {
	case '{', '[':
		const most = 64 // deeper than any answer
		if depth < most && (depth > 0 || c == '{') {
			v.nesting, v.isName = append(v.nesting, c), c == '{'
		}
	case '}', ']':
		v.nesting = v.nesting[:max(0, depth-1)]
	case ',':
		v.isName = depth > 0 && v.nesting[depth-1] == '{'
	case ':':
		v.isName = false
	case '"':
		v.inside = depth > 0
	}
}

// escaped returns the text of an escape; whole is false if the escape is incomplete.
func (v *Values) escaped() (text string, whole bool) {
	if v.escape[1] != 'u' {
		text = v.escape[1:]
		if i := strings.Index("nrtbf", text); i >= 0 {
			text = "\n\r\t\b\f"[i : i+1]
		}
		v.escape, v.high = "", 0
		return text, true
	}
	if len(v.escape) < len(`\u0000`) {
		return "", false
	}
	code, err := strconv.ParseUint(v.escape[2:], 16, 16)
	v.escape = ""
	if err != nil {
		return "", true
	}
	r := rune(code)
	if !utf16.IsSurrogate(r) {
		v.high = 0
		return string(r), true
	}
	if both := utf16.DecodeRune(v.high, r); v.high != 0 && both != '�' {
		v.high = 0
		return string(both), true
	}
	v.high = r
	return "", true
}
