package pdf

import "strings"

// maxMapped is the maximum number of entries in one CMap, because a range may contain billions of codes.
const maxMapped = 200_000

// cmap maps character codes to text (ToUnicode) or to glyph numbers (the encoding of a composite font).
type cmap struct {
	texts  map[int]string
	cids   map[int]int
	ranges []cidRange
	spaces [5][][2]int // code space ranges by code length
}

type cidRange struct{ from, to, cid int }

// text returns the text for a code of n bytes. A nil map contains no codes.
func (m *cmap) text(code, n int) (string, bool) {
	if m == nil {
		return "", false
	}
	t, ok := m.texts[code]
	return t, ok
}

func (m *cmap) cid(code, n int) int {
	if c, ok := m.cids[code]; ok {
		return c
	}
	for _, r := range m.ranges {
		if code >= r.from && code <= r.to {
			return r.cid + code - r.from
		}
	}
	return code
}

// length returns the number of bytes in the first code of s.
func (m *cmap) length(s string) int {
	code := 0
	for n := 1; n <= 4 && n <= len(s); n++ {
		code = code<<8 | int(s[n-1])
		for _, r := range m.spaces[n] {
			if code >= r[0] && code <= r[1] {
				return n
			}
		}
	}
	if len(m.spaces[1]) > 0 && len(m.spaces[2]) == 0 {
		return 1
	}
	return 2
}

func (d fonts) parseCMap(s *stream, depth int) *cmap {
	m := &cmap{texts: map[int]string{}, cids: map[int]int{}}
	if parent, ok := d.resolve(s.dict["UseCMap"]).(*stream); ok && depth < 4 {
		m = d.parseCMap(parent, depth+1)
	}
	l := &lexer{data: d.decode(s)}
	var stack []any
	for {
		d.step()
		o := l.object()
		op, isOp := o.(operator)
		if _, done := o.(end); done {
			return m
		}
		if !isOp {
			if stack = append(stack, o); len(stack) > maxMapped {
				return m
			}
			continue
		}
		switch op {
		case "endbfchar", "endcidchar":
			for i := 0; i+1 < len(stack); i += 2 {
				from, ok := stack[i].(text)
				if ok && len(m.texts)+len(m.cids) < maxMapped {
					m.set(codeOf(from), stack[i+1], 0)
				}
			}
		case "endbfrange", "endcidrange":
			for i := 0; i+2 < len(stack); i += 3 {
				m.setRange(stack[i], stack[i+1], stack[i+2])
			}
		case "endcodespacerange":
			for i := 0; i+1 < len(stack); i += 2 {
				from, ok1 := stack[i].(text)
				to, ok2 := stack[i+1].(text)
				n := len(from)
				if !ok1 || !ok2 || n < 1 || n > 4 {
					continue
				}
				if len(m.spaces[n]) < 100 {
					m.spaces[n] = append(m.spaces[n], [2]int{codeOf(from), codeOf(to)})
				}
			}
		}
		stack = stack[:0]
	}
}

func (m *cmap) setRange(lo, hi, to any) {
	a, ok1 := lo.(text)
	b, ok2 := hi.(text)
	if !ok1 || !ok2 || len(a) > 4 || len(b) > 4 {
		return
	}
	from, last := codeOf(a), codeOf(b)
	if cid, ok := to.(int); ok {
		if len(m.ranges) < 10_000 && last >= from {
			m.ranges = append(m.ranges, cidRange{from, last, cid})
		}
		return
	}
	list, isList := to.(array)
	for c := from; c <= last && len(m.texts) < maxMapped; c++ {
		if isList {
			if c-from >= len(list) {
				return
			}
			m.set(c, list[c-from], 0)
		} else {
			m.set(c, to, c-from)
		}
	}
}

// set maps a code to a glyph number or to text. In text, the last character is increased by plus.
func (m *cmap) set(code int, to any, plus int) {
	switch v := to.(type) {
	case int:
		m.cids[code] = v
	case name:
		m.texts[code] = glyphText(string(v))
	case text:
		if len(v) > 64 {
			return
		}
		s := string(v)
		if len(s) == 1 {
			s = "\x00" + s
		}
		r := []rune(fromUTF16(s, false))
		if len(r) == 0 {
			return
		}
		r[len(r)-1] += rune(plus)
		t := strings.Trim(string(r), "\x00")
		if t != "" && !strings.ContainsRune(t, '\ufffd') {
			m.texts[code] = t
		}
	}
}

func codeOf(t text) int {
	n := 0
	for i := 0; i < len(t) && i < 4; i++ {
		n = n<<8 | int(t[i])
	}
	return n
}
