package quantity

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/text"
)

// Parse returns the quantities in a text, in order and without overlap. The ends of a range are two quantities, each as
// written: of 10-12 km, the first has no unit. Numbers in words are not read. Time is linear in the length of the text.
func Parse(text string) []Quantity {
	p := &parser{input: input{text}, commas: writesCommas(text)}
	for i := 0; i < len(text); {
		if end := p.at(i); end > i {
			i = end
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return p.out
}

// input is the text to parse. Its methods only read it.
type input struct{ s string }

// parser reads one text from left to right. Its methods form a grammar: each reads one kind of part at a position, such
// as a number, a unit or a date, and returns the end of that part.
type parser struct {
	input
	commas bool // decimals are written with commas
	out    []Quantity
}

// commaDecimals and pointDecimals match decimals that cannot group thousands.
var (
	commaDecimals = regexp.MustCompile(`\d,\d{1,2}(?:[^\d,]|$)`)
	pointDecimals = regexp.MustCompile(`\d\.\d{1,2}(?:[^\d.]|$)`)
)

// writesCommas reports whether a text writes decimals with commas, judging by its numbers.
func writesCommas(s string) bool {
	s = s[:min(len(s), 4000)]
	return len(commaDecimals.FindAllString(s, -1)) > len(pointDecimals.FindAllString(s, -1))
}

// at reads the quantity that begins at byte i and returns its end, or i if none begins there.
func (p *parser) at(i int) int {
	r, size := utf8.DecodeRuneInString(p.s[i:])
	switch {
	case r >= '0' && r <= '9':
		return p.atDigit(i)
	case isLetter(r):
		return p.atWord(i)
	case unicode.Is(unicode.Sc, r):
		return p.atCurrency(i, i+size, units[string(r)].base)
	}
	return i
}

// atDigit reads a date, or a number with the unit after it. It skips digits that are neither.
func (p *parser) atDigit(i int) int {
	if end := p.date(i); end > i {
		return end
	}
	n, ok := p.number(i)
	if !ok {
		return n.end
	}
	start := i
	if sign := p.sign(i); sign < i {
		start, n.value = sign, -n.value
	}
	return p.finish(start, n, "")
}

// atCurrency reads a sum that begins with a currency sign or code: $5, US$ 5 bn, €3,5 Mio, USD 12,000.
func (p *parser) atCurrency(start, after int, currency string) int {
	at := p.skipSpace(after, 1)
	if !digitAt(p.s, at) {
		return after
	}
	n, ok := p.number(at)
	if !ok || currency == "" {
		return n.end
	}
	return p.finish(start, n, currency)
}

// sign returns the start of a minus sign before byte i, or i. A hyphen between words and figures is not a minus sign.
func (p input) sign(i int) int {
	for _, minus := range []string{"-", "−", "–"} {
		if at := i - len(minus); at >= 0 && p.s[at:i] == minus {
			if before, _ := utf8.DecodeLastRuneInString(p.s[:at]); at == 0 || unicode.IsSpace(before) || before == '(' {
				return at
			}
		}
	}
	if strings.HasSuffix(strings.ToLower(p.s[max(0, i-6):i]), "minus ") {
		return i - 6
	}
	return i
}

// finish reads the unit and magnitude after a number, appends the quantity and returns its end. currency: the currency
// before the number.
func (p *parser) finish(start int, n number, currency string) int {
	q := Quantity{Start: start, Kind: Number, factor: 1}
	at, scale, written := p.magnitude(n.end, currency != "")
	for written && digitAt(p.s, at) { // 1亿2000万
		more, ok := p.number(at)
		end, by, _ := p.magnitude(more.end, false)
		if !ok || by >= scale {
			break
		}
		n.value, n.step = n.value+more.value*by/scale, more.step*by/scale
		at = end
	}
	q.Digits, q.Magnitude, n.end = n.value, scale, at
	n.value *= scale
	if written { // 2 million: rounded to the last written place
		n.step *= scale
	} else if n.whole {
		n.step = trailing(n.value)
	}
	u, unitEnd, ok := p.unit(n.end)
	switch {
	case currency != "":
		q.Kind, q.Unit = Money, currency
	case ok && unitEnd == n.end+1 && p.s[n.end] == 's' && n.year(): // the 1990s
		q.Kind, q.When, n.end = Date, When{Year: int(n.value)}, unitEnd
	case ok:
		if pounds := strings.HasPrefix(p.s[p.skipSpace(n.end, 1):], "pound"); pounds && written { // money
			u = unit{Money, "GBP", 1, 0}
		}
		q.Kind, q.Unit, q.factor, q.offset = u.kind, u.base, u.factor, u.offset
		n.end = unitEnd
	case attached(p.s, n.end): // 3D, 4x4, 5G: a name, and 3rd
		return wordEnd(p.s, n.end)
	}
	q.Low = n.value*q.factor + q.offset
	q.Round, q.End = n.step*q.factor/2, n.end
	p.name(&q, n, written)
	p.bound(&q)
	p.out = append(p.out, q)
	return n.end
}

// atWord reads a date, a sum of money or a number in words, or skips the word and the text joined to it.
func (p *parser) atWord(i int) int {
	if end := p.date(i); end > i {
		return end
	}
	word, end := wordAt(p.s, i)
	if u := units[word+"$"]; u.kind == Money && strings.HasPrefix(p.s[end:], "$") {
		return p.atCurrency(i, end+1, u.base)
	}
	code := len(word) == 3 && strings.ToUpper(word) == word
	if u := units[word]; code && u.kind == Money && digitAt(p.s, p.skipSpace(end, 1)) {
		return p.atCurrency(i, end, u.base)
	}
	if at := p.version(word, end); at > end {
		return at
	}
	small := word == strings.ToLower(word)
	if small && strings.HasPrefix(p.s[end:], "-") && digitAt(p.s, end+1) { // mid-1998, but not COVID-19
		return end + 1
	}
	return wordEnd(p.s, end)
}

// name recognizes years and labels among bare numbers.
func (p input) name(q *Quantity, n number, written bool) {
	if q.Kind != Number || written {
		return
	}
	before := p.wordBefore(q.Start)
	low := strings.ToLower(strings.Trim(before, "."))
	switch {
	case n.dots > 1, labels[low], before == "No.", before == "no.", strings.HasSuffix(p.s[:q.Start], "#"),
		strings.HasSuffix(strings.TrimRight(p.s[:q.Start], " "), "§"):
		q.Kind = Label
	case n.year() && p.isYear(q):
		q.Kind, q.When = Date, When{Year: int(n.value)}
	}
}

// skipSpace skips at most n spaces of any width, on one line.
func (p input) skipSpace(at, n int) int {
	for ; n > 0; n-- {
		r, size := utf8.DecodeRuneInString(p.s[at:])
		if r != ' ' && r != '\u00a0' && r != '\u202f' && r != '\u2009' {
			break
		}
		at += size
	}
	return at
}

// wordBefore returns the word that ends before byte i, including a period at its end.
func (p input) wordBefore(i int) string {
	s := strings.TrimRight(p.s[max(0, i-40):i], " \u00a0\n")
	at := strings.LastIndexFunc(s, func(r rune) bool { return !isLetter(r) && r != '.' && r != '\'' })
	if at >= 0 {
		_, size := utf8.DecodeRuneInString(s[at:])
		s = s[at+size:]
	}
	return s
}

// wordAt returns the letters that begin at byte i, and their end.
func wordAt(s string, i int) (string, int) {
	end := i
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isLetter(r) {
			break
		}
		end += size
	}
	return s[i:end], end
}

// wordEnd returns the end of the letters and figures that begin at byte i, including figures after hyphens: COVID-19,
// GPT-4.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case isLetter(r), r >= '0' && r <= '9', r == '_':
			i += size
		case strings.ContainsRune("-./", r) && i > 0 && digitAt(s, i+1) && s[i-1] != ' ':
			i += size
		default:
			return i
		}
	}
	return i
}

// attached reports whether a letter follows directly.
func attached(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return isLetter(r)
}

// isLetter reports whether r is a letter, except in scripts without spaces, where a number can end before a letter.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) && !text.CJK(r)
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
