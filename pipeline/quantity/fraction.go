package quantity

import "strings"

// parts are the names of fractions by their denominators, in English, German and French.
var parts = map[string]float64{
	"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6,
	"seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8, "ninth": 9, "ninths": 9, "tenth": 10, "tenths": 10, "twelfth": 12, "twelfths": 12, "twentieth": 20, "twentieths": 20, "hundredth": 100, "hundredths": 100, "thousandth": 1000, "thousandths": 1000,
	"hälfte": 2, "drittel": 3, "viertel": 4, "fünftel": 5, "sechstel": 6, "siebtel": 7, "achtel": 8, "neuntel": 9, "zehntel": 10,
	"moitié": 2, "tiers": 3, "quart": 4, "quarts": 4, "cinquième": 5, "cinquièmes": 5, "dixième": 10,
}

// numerators are the words before the name of a fraction.
var numerators = map[string]float64{
	"a": 1, "an": 1, "ein": 1, "eine": 1, "die": 1, "un": 1, "la": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "deux": 2, "trois": 3,
}

// behindPart are words that follow "a third" where it is a share; before a noun it is an ordinal.
var behindPart = set(`of less more fewer higher lower larger smaller longer shorter faster slower cheaper in within since after from to by and or are is were was had have
	der des aller weniger mehr von de des du`)

// roundPart is by how many percentage points a share may differ that is told as a fraction: a third stands for 32 to 35%.
const roundPart = 1.7

// fraction reads two thirds, a quarter of, one in five, nine out of ten, half of, half a million; i when there is none.
func (p *parser) fraction(i int) int {
	word, end := wordAt(p.s, i)
	low := strings.ToLower(word)
	if low == "half" {
		return p.half(i, end)
	}
	over, counts := numerators[low], spelled[low] > 0
	if counts {
		over = spelled[low]
	}
	if over == 0 || end >= len(p.s) || p.s[end] != ' ' && p.s[end] != '-' {
		return i
	}
	name, after := wordAt(p.s, end+1)
	if under, at := p.outOf(name, after); counts && under >= 2 && over <= under {
		if over == 1 && p.pronoun(i, at) {
			return end
		}
		return p.part(i, at, over/under)
	}
	under := parts[strings.ToLower(name)]
	if under == 0 || name[0] >= 'A' && name[0] <= 'Z' && !p.commas || over > under {
		return i
	}
	if at, ok := p.ofUnit(after); ok { // seven hundredths of a second
		return p.finish(i, number{value: over / under, step: 0.1 / under, end: at}, "")
	}
	next, behind := wordAt(p.s, p.skipSpace(after, 1))
	if hour, end := wordAt(p.s, p.skipSpace(behind, 1)); under == 4 && (next == "to" || next == "past") && spelled[strings.ToLower(hour)] > 0 { // a time of day
		return end
	}
	plural := strings.HasSuffix(name, "s") && under > 2
	time := under == 4 && next != "of" && p.s[end] == ' ' && !p.commas // three quarters of it; three quarters of growth are no share
	switch {
	case over > 1 && !time, plural && !time:
	case name == "Hälfte", next == "", behindPart[strings.ToLower(next)]:
		if time && plural {
			return i
		}
	default:
		return i
	}
	return p.part(i, after, over/under)
}

// pronoun reports "one" that stands for what was named before, behind an adjective: a PEM machine starts in five minutes,
// an alkaline one in 50.
func (p *parser) pronoun(i, end int) bool {
	adjective := p.wordBefore(i)
	if adjective == "" || behindPart[strings.ToLower(adjective)] || adjective == "only" || adjective == "just" {
		return false
	}
	article := strings.ToLower(p.wordBefore(i - len(adjective) - 1))
	next, _ := wordAt(p.s, p.skipSpace(end, 1))
	return (article == "a" || article == "an" || article == "the") && next == ""
}

// ofUnit returns where the unit begins in "of a second".
func (p *parser) ofUnit(at int) (int, bool) {
	for _, of := range []string{" of a", " of an"} {
		if strings.HasPrefix(p.s[at:], of+" ") {
			if u, _, ok := p.unit(at + len(of)); ok && u.kind == Measure && u.offset == 0 {
				return at + len(of), true
			}
		}
	}
	return at, false
}

// half reads "half of" and "half the" as a share, and "half a million" and "half an hour" as numbers.
func (p *parser) half(i, end int) int {
	before := strings.ToLower(p.wordBefore(i))
	switch before {
	case "first", "second", "latter", "other", "last", "better", "top", "bottom", "and", "a", "year", "and-a":
		return i
	}
	next, after := wordAt(p.s, p.skipSpace(end, 1))
	switch next {
	case "of", "the", "their", "its", "them":
		return p.part(i, end, .5)
	case "a", "an":
		n := number{value: .5, step: .1, end: after}
		if _, _, written := p.magnitude(after, false); written {
			return p.finish(i, n, "")
		}
		if u, _, unit := p.unit(after); unit && u.kind == Measure {
			return p.finish(i, n, "")
		}
	}
	return i
}

// outOf reads "in five" and "out of ten" behind a number in words.
func (p *parser) outOf(word string, after int) (under float64, end int) {
	if word == "out" && strings.HasPrefix(p.s[after:], " of ") {
		word, after = "in", after+len(" of")
	}
	if word != "in" && word != "von" {
		return 0, after
	}
	at := p.skipSpace(after, 1)
	if name, end := wordAt(p.s, at); spelled[strings.ToLower(name)] > 1 {
		if _, _, unit := p.unit(end); unit { // two in three days
			return 0, after
		}
		return spelled[strings.ToLower(name)], end
	}
	if !digitAt(p.s, at) {
		return 0, after
	}
	n, ok := p.number(at)
	if !ok || !n.whole || n.value > 1e6 || n.value >= 1500 && n.value < 2100 && !n.grouped { // one in 2020
		return 0, after
	}
	return n.value, n.end
}

func (p *parser) part(start, end int, share float64) int {
	q := Quantity{Start: start, End: end, Kind: Percent, Unit: "%", Low: 100 * share, High: 100 * share, Round: min(roundPart, 10*share)}
	p.bound(&q)
	p.out = append(p.out, q)
	return end
}

// hanPart reads 三分之一 and 六成 as shares; i when there is none.
func (p *parser) hanPart(i int) int {
	rest := p.s[i:]
	at, values := 0, [2]float64{}
	for k := range values {
		for r, d := range hanDigits {
			if strings.HasPrefix(rest[at:], string(r)) {
				values[k], at = d, at+len(string(r))
				break
			}
		}
		if values[k] == 0 {
			return i
		}
		if k == 1 {
			return p.part(i, i+at, min(1, values[1]/values[0]))
		}
		if strings.HasPrefix(rest[at:], "成") {
			return p.part(i, i+at+len("成"), values[0]/10)
		}
		if !strings.HasPrefix(rest[at:], "分之") {
			return i
		}
		at += len("分之")
	}
	return i
}
