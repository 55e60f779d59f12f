package quantity

import "strings"

// joined returns the quantities with the two ends of a range merged: 10-12 km, between 10 and 12 percent, 2019 to 2021.
// "From 10 to 12" is a change, unless the words before it indicate a range.
func (p *parser) joined() []Quantity {
	var out []Quantity
	for i := 0; i < len(p.out); i++ {
		q := p.out[i]
		if i+1 < len(p.out) && p.isRange(q, p.out[i+1]) {
			q = q.to(p.out[i+1])
			i++
		}
		out = append(out, q)
	}
	return out
}

// to returns the range from q to next.
func (q Quantity) to(next Quantity) Quantity {
	q.End = next.End
	if q.Kind == Date || next.Kind == Date {
		if q.Kind != Date {
			q.Kind, q.When = Date, When{Year: int(q.Low)}
		}
		if q.To = next.When; next.Kind != Date {
			q.To = When{Year: int(next.Low)}
		}
		return q
	}
	if q.Kind == Number && (next.Kind != Number || next.Magnitude > 1) { // the second unit applies to both
		if q.Magnitude == 1 {
			q.Magnitude, q.Low = next.Magnitude, q.Low*next.Magnitude
		}
		q.Kind, q.Unit = next.Kind, next.Unit
		q.Low, q.Round = q.Low*next.factor+next.offset, next.Round
	} else if q.Kind == Money && next.Magnitude > q.Magnitude && q.Low < next.Low/100 { // $5-10 billion
		q.Low, q.Magnitude = q.Low*next.Magnitude, next.Magnitude
	}
	q.Low, q.High, q.Round = min(q.Low, next.Low), max(q.Low, next.Low), max(q.Round, next.Round)
	return q
}

// ranging are word parts which show that "from 10 to 12" is a range, not a change.
var ranging = []string{"rang", "vari", "anywhere", "anything", "somewhere", "between", "zwischen", "reich"}

// isRange reports whether two quantities are the ends of a range.
func (p input) isRange(a, b Quantity) bool {
	if b.Start < a.End || b.Start-a.End > 6 || !joinable(a, b) {
		return false
	}
	before := strings.ToLower(strings.TrimRight(p.s[max(0, a.Start-40):a.Start], " "))
	switch strings.TrimSpace(p.s[a.End:b.Start]) {
	case "-", "–", "—", "~", "～", "至", "到":
		return b.Low >= a.Low || a.Kind == Date || a.Kind == Number
	case "and", "und":
		return a.Kind != Money && (strings.HasSuffix(before, "between") || strings.HasSuffix(before, "zwischen"))
	case "to", "bis":
		if b.Kind == Number && (a.Kind == Money || a.Kind == Date && b.Low < 100) { // from 9 in 2008 to 24
			return false
		}
		if !strings.HasSuffix(before, "from") && !strings.HasSuffix(before, "von") || a.Kind == Date {
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

// joinable reports whether two quantities can be the ends of one range, judging by their kinds.
func joinable(a, b Quantity) bool {
	year := func(q Quantity) bool {
		plain := q.Kind == Number && q.Unit == ""
		return plain && q.Low >= 1000 && q.Low < 2200 && q.Low == float64(int(q.Low))
	}
	endsAlone := func(q Quantity) bool { return q.Kind == Label || q.Kind == Ordinal || !q.To.Zero() }
	switch {
	case endsAlone(a), endsAlone(b):
		return false
	case a.Kind == Date || b.Kind == Date:
		partOfDate := b.Kind == Date || b.Kind == Number && b.Unit == "" && b.Low < 2200
		return partOfDate && (a.Kind == Date || year(a))
	case a.Kind == Money && b.Kind == Number:
		return true
	case a.Kind == b.Kind:
		return a.Unit == b.Unit
	}
	return a.Kind == Number
}
