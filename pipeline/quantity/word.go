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
	if !ok {
		return i
	}
	if value >= 20 && end < len(p.s) && (p.s[end] == '-' || p.s[end] == ' ') {
		ones, after := wordAt(p.s, end+1)
		if n := spelled[strings.ToLower(ones)]; n > 0 && n < 10 {
			value, end = value+n, after
		}
	}
	n := number{value: value, step: 1, end: end, whole: true}
	if low == "one" {
		_, _, written := p.magnitude(end, false)
		_, _, unit := p.unit(end)
		if !written && !unit {
			return i
		}
	}
	return p.finish(i, n, "")
}

// hanDigits are the digits of Chinese and Japanese.
var hanDigits = map[rune]float64{'一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}

// atHan reads a number in Chinese characters, with at least two of them, including a power of ten: 三百, 一百二十万. It also
// reads percentages such as 百分之五.
func (p *parser) atHan(i int) int {
	if rest, share := strings.CutPrefix(p.s[i:], "百分之"); share {
		at := len(p.s) - len(rest)
		value, end := p.han(at)
		n := number{value: value, step: 1, end: end}
		if ok := true; digitAt(p.s, at) {
			if n, ok = p.number(at); !ok {
				return n.end
			}
		}
		if n.end > at {
			q := Quantity{Start: i, End: n.end, Kind: Percent, Unit: "%", Low: n.value, Digits: n.value}
			q.Magnitude, q.factor, q.Round = 1, 1, n.step/2
			p.bound(&q)
			p.out = append(p.out, q)
			return n.end
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
