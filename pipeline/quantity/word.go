package quantity

import (
	"strings"
	"unicode/utf8"
)

// hanUnits are the powers of ten in Chinese and Japanese.
var hanUnits = map[rune]float64{'十': 10, '百': 100, '千': 1e3, '万': 1e4, '萬': 1e4, '亿': 1e8, '億': 1e8, '兆': 1e12}

// letters are magnitudes of money, as in $5bn and €3m. k and M also follow bare numbers.
var letters = map[string]float64{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "b": 1e9, "B": 1e9, "t": 1e12, "T": 1e12}

// beforeSign are short magnitudes before a currency sign.
var beforeSign = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "Md": 1e9, "Mrd": 1e9, "Mio": 1e6, "Mds": 1e9}

// magnitude reads the words for powers of ten at byte at. written reports whether there are any.
func (p input) magnitude(at int, money bool) (end int, scale float64, written bool) {
	end, scale = at, 1
	for range 3 {
		next := p.skipSpace(end, 1)
		if next == end && next < len(p.s) && p.s[next] == '-' {
			next++ // 5-million
		}
		if word, after := wordAt(p.s, next); word != "" {
			factor := magnitudes[strings.ToLower(word)]
			letter := next == end && len(word) == 1 && (money || strings.Contains("kKMB", word))
			if factor == 0 && letter {
				factor = letters[word]
			}
			if sign, _ := utf8.DecodeRuneInString(p.s[after:]); factor == 0 && units[string(sign)].kind == Money {
				factor = beforeSign[word] // 91,4 M€
			}
			if factor == 0 || len(word) == 1 && written {
				return end, scale, written
			}
			if strings.HasPrefix(p.s[after:], ".") && dotted[strings.ToLower(word)] {
				after++
			}
			end, scale, written = after, scale*factor, true
			continue
		}
		for _, more := range []string{"多", "余"} { // 40多万
			if rest, ok := strings.CutPrefix(p.s[next:], more); ok {
				if r, _ := utf8.DecodeRuneInString(rest); hanUnits[r] >= 1e4 {
					next += len(more)
				}
			}
		}
		r, size := utf8.DecodeRuneInString(p.s[next:])
		factor, ok := hanUnits[r]
		if !ok || r == '十' || p.wide(next) != "" { // 千瓦时
			return end, scale, written
		}
		end, scale, written = next+size, scale*factor, true
	}
	return end, scale, written
}

// inWords reads a number in words: twenty-five, two hundred, three million. "One" is a number only if a magnitude or a
// unit follows.
func (p *parser) inWords(i int) int {
	word, end := wordAt(p.s, i)
	low := strings.ToLower(word)
	value, ok := spelled[low]
	if low == "a" || low == "half" { // a billion requests, half a million, half an hour
		value, ok = 1, true
		if low == "half" {
			article, after := wordAt(p.s, p.skipSpace(end, 1))
			value, end, ok = .5, after, article == "a" || article == "an"
		}
		power, _ := wordAt(p.s, p.skipSpace(end, 1))
		u := units[power]
		million := magnitudes[power] >= 1e3 && len(power) > 3 && !strings.HasSuffix(power, "s")
		ok = ok && (million || low == "half" && u.kind == Measure)
	}
	if !ok {
		return i
	}
	if value >= 20 && end < len(p.s) && (p.s[end] == '-' || p.s[end] == ' ') {
		ones, after := wordAt(p.s, end+1)
		if n := spelled[strings.ToLower(ones)]; n > 0 && n < 10 {
			value, end = value+n, after
		}
	}
	n := number{value: value, step: 1, end: end, whole: value >= 1}
	if rest, half := strings.CutPrefix(p.s[end:], " and a half"); half && !attached(rest, 0) {
		n.value, n.step, n.whole, n.end = value+.5, .5, false, end+len(" and a half")
	}
	if value < 1 {
		n.step = .1
	}
	if low == "one" && n.whole {
		_, _, written := p.magnitude(end, false)
		_, _, unit := p.unit(end)
		if !written && !unit {
			return i
		}
	}
	return p.finish(i, n, "")
}

// roundPart is the tolerance, in percentage points, of a share given as a fraction: a third means 32 to 35%.
const roundPart = 1.7

// fraction reads a fraction such as two thirds of, half of, die Hälfte. It returns i if there is none. Without "of", a
// quarter may be three months.
func (p *parser) fraction(i int) int {
	word, end := wordAt(p.s, i)
	over := max(numerators[strings.ToLower(word)], spelled[strings.ToLower(word)])
	name, after := word, end
	if strings.EqualFold(word, "half") {
		over = 1
	} else if over > 0 && end < len(p.s) && (p.s[end] == ' ' || p.s[end] == '-') {
		name, after = wordAt(p.s, end+1)
	}
	under := parts[strings.ToLower(name)]
	next := p.skipSpace(after, 1)
	of, behind := wordAt(p.s, next)
	alone := name == "Hälfte" || strings.EqualFold(name, "moitié")
	aPart := under != 0 && over != 0 && over <= under
	if !aPart || !ofWords[of] && !alone {
		return i
	}
	if digitAt(p.s, p.skipSpace(behind, 1)) { // the first half of 2021
		return i
	}
	return p.part(i, after, over/under)
}

func (p *parser) part(start, end int, share float64) int {
	q := Quantity{
		Start: start, End: end, Kind: Percent, Unit: "%", Low: 100 * share, High: 100 * share,
		Digits: 100 * share, Magnitude: 1, factor: 1, Round: min(roundPart, 10*share),
	}
	p.bound(&q)
	p.out = append(p.out, q)
	return end
}

// hanDigits are the digits of Chinese and Japanese.
var hanDigits = map[rune]float64{'一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}

// atHan reads a number in Chinese characters, with at least two of them, including a power of ten: 三百, 一百二十万. It also
// reads shares such as 百分之五, 三分之一 and 六成.
func (p *parser) atHan(i int) int {
	if rest, share := strings.CutPrefix(p.s[i:], "百分之"); share {
		at := len(p.s) - len(rest)
		value, end := p.han(at)
		step := 1.
		if digitAt(p.s, at) {
			n, ok := p.number(at)
			if !ok {
				return n.end
			}
			value, end, step = n.value, n.end, n.step
		}
		if end > at {
			end = p.part(i, end, value/100)
			p.out[len(p.out)-1].Round = step / 2
			return end
		}
	}
	first, size := utf8.DecodeRuneInString(p.s[i:])
	if under := hanDigits[first]; under > 0 {
		if strings.HasPrefix(p.s[i+size:], "成") {
			return p.part(i, i+size+len("成"), under/10)
		}
		if rest, ok := strings.CutPrefix(p.s[i+size:], "分之"); ok {
			if r, more := utf8.DecodeRuneInString(rest); hanDigits[r] > 0 {
				return p.part(i, len(p.s)-len(rest)+more, min(1, hanDigits[r]/under))
			}
		}
	}
	value, end := p.han(i)
	power := func(r rune) bool { return hanUnits[r] > 0 }
	if text := p.s[i:end]; utf8.RuneCountInString(text) < 2 || !strings.ContainsFunc(text, power) {
		return i
	}
	return p.finish(i, number{value: value, step: 1, end: end, whole: true}, "")
}

// han reads a Chinese number and returns its value and end.
func (p input) han(at int) (value float64, end int) {
	total, part, digit, signs := 0.0, 0.0, 0.0, 0
	for end = at; end < len(p.s) && signs < 20; signs++ {
		r, size := utf8.DecodeRuneInString(p.s[end:])
		if d := hanDigits[r]; d > 0 && digit == 0 {
			digit = d
		} else if u := hanUnits[r]; u > 0 && (signs > 0 || r == '十') {
			if u < 1e4 {
				part += max(digit, 1) * u
			} else {
				total, part = total+max(part+digit, 1)*u, 0
			}
			digit = 0
		} else if r != '零' || signs == 0 {
			break
		}
		end += size
	}
	return total + part + digit, end
}
