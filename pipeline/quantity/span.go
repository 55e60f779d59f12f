package quantity

import "strings"

// joined makes one quantity of the two ends of a range: 10-12 km, between 10 and 12 percent, 2019 to 2021. "From 10 to
// 12" is a change, unless something is said to range.
func (p *parser) joined() []Quantity {
	out := p.out[:0]
	for i := 0; i < len(p.out); i++ {
		q := p.out[i]
		if i+1 < len(p.out) && p.isSpan(q, p.out[i+1]) {
			next := p.out[i+1]
			switch {
			case q.Kind == Date || next.Kind == Date:
				if q.Kind != Date {
					q.Kind, q.When = Date, When{Year: int(q.Low)}
				}
				if next.Kind != Date {
					next.When = When{Year: int(next.Low)}
				}
				q.To, q.End = next.When, next.End
			default:
				if q.Kind != next.Kind || q.Low < next.Low/100 { // what stands behind the second is meant of both
					scale := p.scaleOf(next)
					q.Low, q.Round = q.Low*scale.factor+scale.offset, next.Round
				}
				if next.Kind != Number {
					q.Kind, q.Unit = next.Kind, next.Unit
				}
				q.High, q.End = next.High, next.End
				q.Round = max(q.Round, next.Round)
				if q.High < q.Low {
					q.Low, q.High = q.High, q.Low
				}
			}
			i++
		}
		out = append(out, q)
	}
	return out
}

// scaleOf returns how a number in the unit that stands behind q becomes one in its base unit.
func (p *parser) scaleOf(q Quantity) unit {
	n, ok := p.number(p.firstDigit(q))
	if !ok || n.value == 0 {
		return unit{factor: 1}
	}
	end, scale, _ := p.magnitude(n.end, q.Kind == Money)
	u, _, ok := p.unit(end)
	if !ok {
		u = unit{factor: 1}
	}
	if u.offset == 0 { // with all that "per" has divided
		return unit{factor: q.Low / n.value}
	}
	u.factor *= scale
	return u
}

func (p *parser) firstDigit(q Quantity) int {
	at := q.Start
	for at < q.End-1 && !digitAt(p.s, at) {
		at++
	}
	return at
}

// ranging are words that say that "from 10 to 12" is a range and no change.
var ranging = []string{"rang", "vari", "anywhere", "anything", "somewhere", "between", "zwischen", "reich"}

func (p *parser) isSpan(a, b Quantity) bool {
	if b.Start < a.End || b.Start-a.End > 6 || a.Kind == Label || b.Kind == Label || a.Kind == Ordinal || b.Kind == Ordinal {
		return false
	}
	if a.Kind == Money && b.Kind == Number { // $5-10 billion
		sep := p.s[a.End:b.Start]
		return (sep == "-" || sep == "–") && b.Low > a.Low
	}
	if a.Kind != b.Kind && a.Kind != Number && !(a.Kind == Date && b.Kind == Number && b.Low < 2200 && b.Unit == "") || a.Kind == b.Kind && a.Unit != b.Unit {
		return false
	}
	if sep := strings.TrimSpace(p.s[a.End:b.Start]); a.Kind == Date && b.Kind == Number && b.Low < 100 && (sep == "to" || sep == "bis") { // from 9 in 2008 to 24
		return false
	}
	if a.Kind == Date && !a.To.Zero() || b.Kind == Date && !b.To.Zero() || a.Kind == Number && b.Kind == Date && (a.Low < 1000 || a.Low > 2200 || a.Low != float64(int(a.Low))) {
		return false
	}
	before := strings.ToLower(strings.TrimRight(p.s[max(0, a.Start-40):a.Start], " "))
	switch strings.TrimSpace(p.s[a.End:b.Start]) {
	case "-", "–", "—", "~", "～", "至", "到":
		return b.Low >= a.Low || a.Kind == Date || a.Kind == Number
	case "and", "und":
		return strings.HasSuffix(before, "between") || strings.HasSuffix(before, "zwischen")
	case "to", "bis":
		if !strings.HasSuffix(before, "from") && !strings.HasSuffix(before, "von") {
			return true
		}
		if a.Kind == Date {
			return true
		}
		for _, word := range ranging {
			if strings.Contains(before, word) {
				return true
			}
		}
	}
	return false
}
