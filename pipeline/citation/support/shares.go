package support

import (
	"strings"

	"nightdesk/pipeline/quantity"
)

// basis reports a year that an index is counted from: 2020 = 100.
func (t *text) basis(p placed) bool {
	return p.Kind == quantity.Date && strings.HasPrefix(strings.TrimLeft(t.Text[p.End:], " "), "= 100")
}

// bases returns the values of the first units that an index is explained in.
func (t *text) bases() [][]placed {
	var out [][]placed
	for i, p := range t.quantities {
		if len(out) < 2 && t.basis(p) {
			var values []placed
			for _, o := range t.quantities[i:min(len(t.quantities), i+6)] {
				if o.unit == p.unit {
					values = append(values, o)
				}
			}
			out = append(out, values)
		}
	}
	return out
}

// sameShare reports a number behind "of" and the same number in sentence and source: 29 of 367. Where the first of them
// stands is checked by itself.
func (s *statement) sameShare(q quantity.Quantity, t *text, p placed) bool {
	mine, theirs := shareBefore(s.text[:q.Start]), shareBefore(t.Text[:p.Start])
	return mine != "" && mine == theirs
}

// brokenShare reports a number behind "of" whose first number the sources have with another one, and it with another first:
// 30 of 222, where they have 17 of 222 and 30 of 223.
func (s *statement) brokenShare(q quantity.Quantity, texts []*text) bool {
	first := shareBefore(s.text[:q.Start])
	if first == "" || q.Kind != quantity.Number {
		return false
	}
	other, elsewhere := false, false
	for _, t := range texts {
		for _, p := range t.quantities {
			switch before := shareBefore(t.Text[:p.Start]); {
			case before == "":
			case p.Low == q.Low && before == first:
				return false
			case p.Low == q.Low:
				other = true
			case before == first:
				elsewhere = true
			}
		}
	}
	return other && elsewhere
}

// shareBefore returns the number before a final "of".
func shareBefore(text string) string {
	text, ok := strings.CutSuffix(text[max(0, len(text)-24):], " of ")
	if !ok {
		return ""
	}
	number := text[strings.LastIndexByte(text, ' ')+1:]
	if number == "" || number[0] < '0' || number[0] > '9' {
		return ""
	}
	return number
}
