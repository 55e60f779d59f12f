package quantity

import (
	"strings"
	"unicode/utf8"
)

// magnitudes are words for powers of ten, in lower case. A German Billion is an English trillion: only its plural tells.
var magnitudes = map[string]float64{
	"hundred": 1e2, "dozen": 12, "thousand": 1e3, "thousands": 1e3, "lakh": 1e5, "lakhs": 1e5, "million": 1e6, "millions": 1e6, "mn": 1e6, "mln": 1e6, "crore": 1e7, "crores": 1e7,
	"billion": 1e9, "billions": 1e9, "bn": 1e9, "bln": 1e9, "trillion": 1e12, "trillions": 1e12, "tn": 1e12, "trn": 1e12, "quadrillion": 1e15,
	"tausend": 1e3, "tsd": 1e3, "millionen": 1e6, "mio": 1e6, "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9, "billionen": 1e12, "bio": 1e12,
	"milliard": 1e9, "milliards": 1e9, "millón": 1e6, "millones": 1e6, "billón": 1e12, "billones": 1e12, "mille": 1e3,
	"milione": 1e6, "milioni": 1e6, "miliardo": 1e9, "miliardi": 1e9, "milhão": 1e6, "milhões": 1e6, "bilhão": 1e9, "bilhões": 1e9, "miljoen": 1e6, "miljard": 1e9,
	"тыс": 1e3, "тысяча": 1e3, "тысячи": 1e3, "тысяч": 1e3, "млн": 1e6, "миллион": 1e6, "миллиона": 1e6, "миллионов": 1e6,
	"млрд": 1e9, "миллиард": 1e9, "миллиарда": 1e9, "миллиардов": 1e9, "трлн": 1e12, "триллион": 1e12, "триллиона": 1e12, "триллионов": 1e12,
}

// hanUnits are powers of ten in Chinese and Japanese.
var hanUnits = map[rune]float64{'十': 10, '百': 100, '千': 1e3, '万': 1e4, '萬': 1e4, '亿': 1e8, '億': 1e8, '兆': 1e12}

// letters are magnitudes of money: $5bn, €3m; k and M also stand behind bare numbers.
var letters = map[string]float64{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "b": 1e9, "B": 1e9, "t": 1e12, "T": 1e12}

// beforeSign are short magnitudes before a sign of money.
var beforeSign = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "Md": 1e9, "Mrd": 1e9, "Mio": 1e6, "Mds": 1e9}

func signAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return signs[string(r)] != ""
}

// magnitude reads words for powers of ten at byte at. written: there is one.
func (p *parser) magnitude(at int, money bool) (end int, scale float64, written bool) {
	end, scale = at, 1
	for range 3 {
		next := p.skipSpace(end, 1)
		if next == end && next < len(p.s) && p.s[next] == '-' {
			next++ // 5-million
		}
		if word, after := wordAt(p.s, next); word != "" {
			factor := magnitudes[strings.ToLower(word)]
			if factor == 0 && next == end && len(word) == 1 && (money || word == "k" || word == "K" || word == "M" || word == "B") {
				factor = letters[word]
			}
			if factor == 0 && signAt(p.s, after) {
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
		if _, unit := p.wide(next); !ok || r == '十' || unit { // 千瓦时
			return end, scale, written
		}
		end, scale, written = next+size, scale*factor, true
	}
	return end, scale, written
}

// dotted are written with a full stop, which ends no sentence.
var dotted = set(`mio mrd tsd bio тыс млн млрд трлн`)

// spelled are English and German number words; "elf" is an English word as well.
var spelled = map[string]float64{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
	"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30,
	"forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12, "zwanzig": 20, "dreißig": 30,
	"vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80, "neunzig": 90,
}

// words reads a number in words: twenty-five, two hundred, three million. A single "one" is none unless a
// magnitude or a unit follows.
func (p *parser) words(i int) int {
	word, end := wordAt(p.s, i)
	value, ok := spelled[strings.ToLower(word)]
	if low := strings.ToLower(word); low == "a" && !ok { // a billion requests
		if power, _ := wordAt(p.s, p.skipSpace(end, 1)); magnitudes[power] >= 1e3 && len(power) > 3 && !strings.HasSuffix(power, "s") {
			value, ok = 1, true
		}
	}
	if !ok {
		return i
	}
	if value >= 20 && end < len(p.s) && (p.s[end] == '-' || p.s[end] == ' ') {
		if ones, after := wordAt(p.s, end+1); spelled[strings.ToLower(ones)] > 0 && spelled[strings.ToLower(ones)] < 10 {
			value, end = value+spelled[strings.ToLower(ones)], after
		}
	}
	n := number{value: value, step: 1, end: end, whole: true}
	if rest, half := strings.CutPrefix(p.s[end:], " and a half"); half && !attached(rest, 0) {
		n.value, n.step, n.whole, n.end = value+.5, .5, false, end+len(" and a half")
	}
	if value == 1 && n.whole {
		_, _, written := p.magnitude(end, false)
		_, _, unit := p.unit(end)
		if !written && !unit {
			return i
		}
	}
	return p.finish(i, n, "")
}

// hanDigits are the figures of Chinese and Japanese.
var hanDigits = map[rune]float64{'一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}

// atHan reads a number in Chinese figures, at least two of them and one a power of ten: 三百, 一百二十万; 百分之五 too.
func (p *parser) atHan(i int) int {
	share := strings.HasPrefix(p.s[i:], "百分之")
	at := i
	if share {
		at += len("百分之")
		if digitAt(p.s, at) {
			n, ok := p.number(at)
			if !ok {
				return n.end
			}
			p.out = append(p.out, Quantity{Start: i, End: n.end, Kind: Percent, Unit: "%", Low: n.value, High: n.value, Round: n.step / 2})
			p.bound(&p.out[len(p.out)-1])
			return n.end
		}
	}
	total, part, digit, signs, powers := 0.0, 0.0, 0.0, 0, 0
	end := at
	for end < len(p.s) && signs < 20 {
		r, size := utf8.DecodeRuneInString(p.s[end:])
		if d := hanDigits[r]; d > 0 && digit == 0 {
			digit = d
		} else if u := hanUnits[r]; u > 0 && (signs > 0 || r == '十') {
			powers++
			if u < 1e4 {
				part += max(digit, 1) * u
			} else {
				total, part = total+max(part+digit, 1)*u, 0
			}
			digit = 0
		} else if r != '零' || signs == 0 {
			break
		}
		signs++
		end += size
	}
	n := number{value: total + part + digit, step: 1, end: end, whole: true}
	if share && signs > 0 {
		p.out = append(p.out, Quantity{Start: i, End: end, Kind: Percent, Unit: "%", Low: n.value, High: n.value, Round: 0.5})
		p.bound(&p.out[len(p.out)-1])
		return end
	}
	if signs < 2 || powers == 0 {
		return i
	}
	return p.finish(i, n, "")
}
