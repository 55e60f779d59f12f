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
