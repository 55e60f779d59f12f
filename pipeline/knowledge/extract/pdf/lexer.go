package pdf

import "strconv"

// The objects of a PDF are nil, bool, int, float64, text, name, array, dict, ref and *stream.
type (
	text   string
	name   string
	array  []any
	dict   map[name]any
	ref    struct{ num, gen int }
	stream struct {
		dict dict
		raw  []byte
		id   ref // object id, used for decryption
	}
	operator string // a bare word: an operator of a content stream, "obj", "endobj"
)

// lexer reads objects from data. It never fails and skips invalid data.
type lexer struct {
	data []byte
	at   int
	refs bool // whether "1 0 R" is a reference: true in files, false in content streams

	values int // number of values in arrays and dictionaries of the current object
}

// end is returned by next after the last object.
type end struct{}

type closing byte // "]" or the ">" of ">>"

func space(c byte) bool {
	switch c {
	case ' ', '\n', '\r', '\t', '\f', 0:
		return true
	}
	return false
}

func delimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

func (l *lexer) blanks() {
	for l.at < len(l.data) {
		switch c := l.data[l.at]; {
		case space(c):
			l.at++
		case c == '%':
			for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// object returns the next object, an operator, or end{}.
func (l *lexer) object() any {
	l.values = 0
	for {
		o := l.next(0)
		if _, stray := o.(closing); !stray {
			return o
		}
	}
}

func (l *lexer) next(depth int) any {
	l.blanks()
	if l.at >= len(l.data) {
		return end{}
	}
	c := l.data[l.at]
	switch c {
	case '/':
		l.at++
		return l.name()
	case '(':
		l.at++
		return l.literal()
	case '[':
		l.at++
		if depth > maxDepth {
			return operator("[")
		}
		return l.array(depth)
	case '<':
		l.at++
		if l.at < len(l.data) && l.data[l.at] == '<' {
			l.at++
			if depth > maxDepth {
				return operator("<<")
			}
			return l.dict(depth)
		}
		return l.hex()
	case '>':
		l.at++
		if l.at < len(l.data) && l.data[l.at] == '>' {
			l.at++
		}
		return closing('>')
	case ']':
		l.at++
		return closing(']')
	case '{', '}', ')':
		l.at++
		return operator(c)
	}
	start := l.at
	for l.at < len(l.data) && !space(l.data[l.at]) && !delimiter(l.data[l.at]) {
		l.at++
	}
	word := l.data[start:l.at]
	if n, ok := number(word); ok {
		if i, whole := n.(int); whole && l.refs && i >= 0 {
			if r, ok := l.reference(i); ok {
				return r
			}
		}
		return n
	}
	switch string(word) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return operator(word)
}

// reference reads the rest of a reference such as "12 0 R", if there is one.
func (l *lexer) reference(num int) (ref, bool) {
	i := l.at
	for i < len(l.data) && space(l.data[i]) {
		i++
	}
	gen, digits := 0, 0
	for ; i < len(l.data) && l.data[i] >= '0' && l.data[i] <= '9' && digits < 6; i, digits = i+1, digits+1 {
		gen = gen*10 + int(l.data[i]-'0')
	}
	if digits == 0 {
		return ref{}, false
	}
	j := i
	for j < len(l.data) && space(l.data[j]) {
		j++
	}
	if j == i || j >= len(l.data) || l.data[j] != 'R' {
		return ref{}, false
	}
	if j+1 < len(l.data) && !space(l.data[j+1]) && !delimiter(l.data[j+1]) {
		return ref{}, false
	}
	l.at = j + 1
	return ref{num, gen}, true
}

func number(word []byte) (any, bool) {
	if len(word) == 0 || len(word) > 40 {
		return nil, false
	}
	dot, digits := false, 0
	for i, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && !dot:
			dot = true
		case (c == '-' || c == '+') && i == 0:
		case c == '-' && i > 0: // malformed numbers such as "12.-5" and "--5"
			if i == 1 && word[0] == '-' {
				return number(word[1:])
			}
			return number(word[:i])
		default:
			return nil, false
		}
	}
	if digits == 0 {
		return 0, dot && len(word) <= 2
	}
	if !dot {
		n, err := strconv.Atoi(string(word))
		if err != nil {
			return 0, true
		}
		return n, true
	}
	f, err := strconv.ParseFloat(string(word), 64)
	if err != nil {
		return 0.0, true
	}
	return f, true
}

func (l *lexer) name() name {
	start := l.at
	plain := true
	for l.at < len(l.data) && !space(l.data[l.at]) && !delimiter(l.data[l.at]) {
		plain = plain && l.data[l.at] != '#'
		l.at++
	}
	word := l.data[start:l.at]
	if plain {
		return name(word)
	}
	var out []byte
	for i := 0; i < len(word); i++ {
		if word[i] == '#' && i+2 < len(word) {
			if a, b := unhex(word[i+1]), unhex(word[i+2]); a >= 0 && b >= 0 {
				out = append(out, byte(a<<4|b))
				i += 2
				continue
			}
		}
		out = append(out, word[i])
	}
	return name(out)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *lexer) hex() text {
	var out []byte
	high := -1
	for l.at < len(l.data) {
		c := l.data[l.at]
		l.at++
		if c == '>' {
			break
		}
		d := unhex(c)
		switch {
		case d < 0:
		case high < 0:
			high = d
		default:
			out = append(out, byte(high<<4|d))
			high = -1
		}
	}
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return text(out)
}

func (l *lexer) literal() text {
	var out []byte
	depth := 1
	for l.at < len(l.data) {
		c := l.data[l.at]
		l.at++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text(out)
			}
		case '\r':
			if l.at < len(l.data) && l.data[l.at] == '\n' {
				l.at++
			}
			c = '\n'
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, c)
	}
	return text(out)
}

func (l *lexer) escape(out []byte) []byte {
	if l.at >= len(l.data) {
		return out
	}
	c := l.data[l.at]
	l.at++
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case '\n':
		return out
	case '\r':
		if l.at < len(l.data) && l.data[l.at] == '\n' {
			l.at++
		}
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	n := int(c - '0')
	for i := 0; i < 2 && l.at < len(l.data) && l.data[l.at] >= '0' && l.data[l.at] <= '7'; i++ {
		n = n*8 + int(l.data[l.at]-'0')
		l.at++
	}
	return append(out, byte(n))
}

func (l *lexer) array(depth int) any {
	out := array{}
	for {
		o := l.next(depth + 1)
		switch o := o.(type) {
		case end, closing: // ">>" also ends an unclosed array
			return out
		case operator:
			if o == "endobj" || o == "endstream" || o == "obj" {
				return out
			}
			continue
		}
		if l.values++; l.values <= maxValues { // further values are read and dropped
			out = append(out, o)
		}
	}
}

func (l *lexer) dict(depth int) any {
	out := dict{}
	for {
		o := l.next(depth + 1)
		switch key := o.(type) {
		case end:
			return out
		case closing:
			if key == '>' {
				return out
			}
		case operator:
			if key == "endobj" || key == "stream" || key == "endstream" || key == "obj" {
				l.at -= len(key)
				return out
			}
		case name:
			v := l.next(depth + 1)
			switch v := v.(type) {
			case end, closing:
				return out
			case operator:
				if v == "endobj" || v == "stream" {
					l.at -= len(v)
					return out
				}
				continue
			}
			if l.values++; l.values <= maxValues {
				out[key] = v
			}
		}
	}
}
