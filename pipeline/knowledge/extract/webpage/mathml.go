package webpage

import "strings"

// writeMath writes a MathML formula in one line: x^2, a_i, (a+b)/c. As plain text, x^2 would become x2, which has
// another meaning.
func writeMath(b *strings.Builder, n *node) {
	parts := n.elements()
	switch {
	case n.tag == "annotation" || n.tag == "annotation-xml" || isNoise(n) && n.tag != "math":
	case n.tag == "msup" && len(parts) == 2:
		writeJoined(b, parts, "^")
	case n.tag == "msub" && len(parts) == 2:
		writeJoined(b, parts, "_")
	case (n.tag == "msubsup" || n.tag == "munderover") && len(parts) == 3:
		writeJoined(b, parts, "_", "^")
	case n.tag == "mfrac" && len(parts) == 2:
		writeJoined(b, parts, "/")
	case n.tag == "mroot" && len(parts) == 2:
		writeJoined(b, parts[:1])
		b.WriteString("^(1/")
		writeJoined(b, parts[1:])
		b.WriteByte(')')
	case n.tag == "msqrt":
		b.WriteString("sqrt(")
		writeMathKids(b, n)
		b.WriteByte(')')
	case n.tag == "mtr" || n.tag == "mtd":
		b.WriteByte(' ')
		writeMathKids(b, n)
	default:
		writeMathKids(b, n)
	}
}

func writeMathKids(b *strings.Builder, n *node) {
	for _, k := range n.kids {
		if k.tag == "" {
			b.WriteString(strings.TrimSpace(k.text))
		} else {
			writeMath(b, k)
		}
	}
}

// writeJoined writes parts with signs between them. Parts that are not atoms are put in parentheses.
func writeJoined(b *strings.Builder, parts []*node, signs ...string) {
	for i, p := range parts {
		if i > 0 {
			b.WriteString(signs[i-1])
		}
		if p.isAtom() {
			writeMath(b, p)
			continue
		}
		b.WriteByte('(')
		writeMath(b, p)
		b.WriteByte(')')
	}
}

// isAtom reports whether a part of a formula needs no parentheses: a single name, number or sign, or a root.
func (n *node) isAtom() bool {
	for n.tag != "msqrt" {
		parts := n.elements()
		if len(parts) != 1 {
			return len(parts) == 0
		}
		n = parts[0]
	}
	return true
}
