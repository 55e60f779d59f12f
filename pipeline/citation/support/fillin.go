package support

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/quantity"
)

// A text writes a unit once for several numbers: from 81 to 42 seconds; 293 of the 350 million euros; by ship 5.20
// euros, by pipeline 3.70; it cost 212 million pounds, and 38 million went into doors.

// mostBetween is how many words may stand between a number without a unit and the one that it has it from.
const mostBetween = 10

// farOff is how many bytes behind an amount another one may still be of its currency: 38 million went into the quay.
const farOff = 300

// joining words stand between two numbers of which only the second has the unit.
var joining = set(`to and or auf und oder bis of et à von der statt`)

// counting words do not count: behind a number they leave open what it is a number of.
var counting = set(`and or in at on by to from with for after before while whereas but as than is are was were will would has have had can could may might must went came goes come
	under over against about nearly rund etwa knapp fast this that last now then only a the um im am an auf aus bei bis der die das den dem den des für mit nach noch oder seit sind und von vor war waren hat hatte haben hatten ist sind wird werden wurde wurden zu zum zur et en à dans par beyond without among alone did does do`)

// isYear reports a bare number that is a year by what follows it: the harvest of 2023 came to; 2019 waren es.
func isYear(s string, q quantity.Quantity) bool {
	return q.Kind == quantity.Number && q.End-q.Start == 4 && q.Low >= 1900 && q.Low < 2100 && !strings.ContainsAny(s[q.Start:q.End], ".,") && (wordBehind(s, q.End) == "" || counting[wordBehind(s, q.End)])
}

// fillIn gives numbers the unit that their text leaves out.
func fillIn(s string, qs []quantity.Quantity, german bool) {
	f := filler{s: s, qs: qs, german: german, factors: make([]float64, len(qs)), powers: make([]float64, len(qs))}
	for i, q := range qs {
		f.powers[i] = magnitudes[magnitudeOf(s[q.Start:q.End])]
	}
	f.fromBehind(func(of quantity.Quantity) bool { return of.Kind != quantity.Number })
	f.fromBefore()
	f.fromBehind(func(quantity.Quantity) bool { return true })
}

// filler is the work on one text.
type filler struct {
	s        string
	qs       []quantity.Quantity
	german   bool      // all nouns have capitals
	factors  []float64 // what numbers that were given a unit have been multiplied with
	compared bool      // the number is one by which something differs
	powers   []float64 // the power of ten that each number is told in, such as 1e6 for millions
}

// fromBehind fills in units that stand behind the next number.
func (f filler) fromBehind(from func(quantity.Quantity) bool) {
	for i := len(f.qs) - 2; i >= 0; i-- {
		a, b := f.qs[i], f.qs[i+1]
		scaled := f.powers[i] > 1
		if !lacksUnit(f.s, a) || b.Kind == quantity.Label || !from(b) || !joinedNumbers(f.s[a.End:max(a.End, b.Start)]) {
			continue
		}
		if factor, ok := f.factor(i+1, !scaled); ok && (b.Kind != quantity.Number || factor != 1) {
			f.take(i, i+1, factor)
		}
	}
}

// fromBefore fills in units that stand behind an earlier number.
func (f filler) fromBefore() {
	last, next := -1, -1 // the quantity that the unit comes from, and the first one behind it and what was given its unit
	sum := -1            // the last sum of money
	for i, q := range f.qs {
		if q.Kind == quantity.Date || q.Kind == quantity.Label || q.Kind == quantity.Ordinal {
			continue
		}
		if last >= 0 && (q.Start-f.qs[last].End > farOff || strings.ContainsAny(f.s[f.qs[last].End:q.Start], "\n|")) {
			last = -1
		}
		if !lacksUnit(f.s, q) {
			if last, next = i, -1; q.Kind == quantity.Money {
				sum = i
			}
			continue
		}
		near := next < 0
		if next < 0 {
			next = i
		}
		scaled := f.powers[i] > 1
		if f.counts(q) { // it counts something of its own
			if scaled {
				last = -1
			}
			continue
		}
		if scaled && sum >= 0 && (last < 0 || f.powers[last] == 1) && q.Start-f.qs[sum].End <= farOff && !strings.Contains(f.s[f.qs[sum].End:q.Start], "\n") {
			last = sum // 88 million dollars over six years, 120 million
		}
		if last < 0 || f.qs[last].Kind == quantity.Number {
			continue
		}
		a := f.qs[last]
		between := f.s[a.End:q.Start]
		f.compared = comparing[wordBehind(f.s, q.End)]
		factor, ok := f.factor(last, !scaled)
		switch {
		case !ok:
			continue
		case scaled && a.Kind == quantity.Money:
		case !near, sentenceEnds(between), len(strings.Fields(between)) > mostBetween, strings.ContainsAny(between, "()"),
			scaled && f.powers[last] == 1, !scaled && f.powers[last] > 1 && q.Low >= 1000:
			continue
		case scaled, joinedNumbers(between), strings.TrimSpace(between) == "from", lastWord(f.s[:q.Start]) == lastWord(f.s[:a.Start]),
			strings.ContainsAny(between, ",;:"), strings.Contains(between, " and "), strings.Contains(between, " und "):
		default:
			continue
		}
		f.take(i, last, factor)
		last, next = i, -1
	}
}

// counts reports a number with something behind it that it is a number of.
func (f filler) counts(q quantity.Quantity) bool {
	word := wordBehind(f.s, q.End)
	if word == "" || counting[word] || comparing[word] {
		return false
	}
	return !f.german || !strings.HasPrefix(strings.TrimLeft(f.s[q.End:], " "), word) // that was put in lower case: a noun
}

// take gives number i the kind and unit of another quantity.
func (f filler) take(i, from int, factor float64) {
	q := &f.qs[i]
	q.Kind, q.Unit = f.qs[from].Kind, f.qs[from].Unit
	q.Low, q.High, q.Round = q.Low*factor, q.High*factor, q.Round*factor
	f.factors[i] = factor
	if f.powers[i] == 1 {
		f.powers[i] = f.powers[from]
	}
}

// factor is what a number is multiplied with to be in the unit of quantity i: with its word for a power of ten, or without.
func (f filler) factor(i int, withMagnitude bool) (float64, bool) {
	q := f.qs[i]
	raw := f.s[q.Start:q.End]
	given := f.factors[i]
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	first, last := strings.IndexFunc(raw, digit), strings.LastIndexFunc(raw, digit)
	if q.Low != q.High || q.Unit == "K" {
		return 0, false
	}
	if first < 0 { // four minutes
		value := writtenValue(raw)
		return q.Low / max(value, 1e-9), value > 0 && f.powers[i] == 1 && f.compared
	}
	one := quantity.Parse(raw[:first] + "1" + raw[last+1:])
	if len(one) == 1 && q.Kind == quantity.Money {
		one[0] = inSterling(one[0], raw)
	}
	if len(one) != 1 || one[0].Unit != q.Unit && given == 0 {
		return 0, false
	}
	factor := one[0].Low
	if given > 0 {
		factor *= given
	}
	if !withMagnitude {
		factor /= f.powers[i]
	}
	return factor, true
}

// lacksUnit reports a bare number in figures that is no year, or one in words by which something differs: eleven less.
func lacksUnit(s string, q quantity.Quantity) bool {
	raw := s[q.Start:q.End]
	year := len(raw) == 4 && q.Low >= 1500 && q.Low < 2100 && q.Low == math.Trunc(q.Low)
	return q.Kind == quantity.Number && q.Low == q.High && (raw[0] >= '0' && raw[0] <= '9' || comparing[wordBehind(s, q.End)]) && !year
}

// joinedNumbers reports that nothing stands between two numbers but words that join them.
func joinedNumbers(between string) bool {
	words := strings.Fields(strings.ToLower(between))
	if len(words) == 2 && (words[0] == "instead" && words[1] == "of" || words[0] == "rather" && words[1] == "than") {
		return true
	}
	if len(words) == 0 || len(words) > 2 || !joining[words[0]] {
		return false
	}
	return len(words) == 1 || words[0] == "of" && words[1] == "the"
}

// wordBehind returns the word that follows a byte on its line, in lower case; "" when something else does.
func wordBehind(s string, at int) string {
	rest := strings.TrimLeft(s[at:min(len(s), at+60)], " ")
	end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '%' })
	if end < 0 {
		end = len(rest)
	}
	return strings.ToLower(rest[:end])
}

// lastWord returns the last word of a text, in lower case.
func lastWord(s string) string {
	s = strings.TrimRight(s[max(0, len(s)-40):], " ")
	at := strings.LastIndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if at >= 0 {
		_, size := utf8.DecodeRuneInString(s[at:])
		s = s[at+size:]
	}
	return strings.ToLower(s)
}

// sentenceEnds reports that a sentence ends within a text.
func sentenceEnds(s string) bool {
	for _, end := range []string{". ", "! ", "? ", "。", "！", "？"} {
		if strings.Contains(s, end) {
			return true
		}
	}
	return false
}
