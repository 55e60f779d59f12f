package quantity

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// number is a number as written.
type number struct {
	value   float64
	step    float64 // of the last written place
	end     int
	whole   bool // no decimals
	grouped bool // has thousands separators
	dots    int  // number of dots; more than one means a version
}

// The forms of numbers; the text after a match is checked separately.
var (
	grouped = regexp.MustCompile(`^\d{1,3}(?:(?:,\d{3})+|(?:\.\d{3})+|(?:['’]\d{3})+|` +
		`(?:[ \x{a0}\x{202f}\x{2009}]\d{3})+|(?:,\d\d)+,\d{3})`)
	version  = regexp.MustCompile(`^\d+(?:\.\d+){2,}`)
	decimals = regexp.MustCompile(`^[.,](\d+)`)
	exponent = regexp.MustCompile(`^[eE][+-]?\d{1,2}\b`)
	noDigit  = regexp.MustCompile(`\D`)
)

// mostDigits is the maximum length of a number, in bytes.
const mostDigits = 60

// number reads the number at byte i. If the digits are not a number, as in a clock time, it returns false and their
// end.
func (p *parser) number(i int) (number, bool) {
	n := p.digits(i)
	if next := n.end; next < len(p.s) && (p.s[next] == ':' || p.s[next] == '/') && digitAt(p.s, next+1) { // 10:30, 24/7
		for next < len(p.s) && (digitAt(p.s, next) || p.s[next] == ':' || p.s[next] == '/') {
			next++
		}
		return number{end: next}, false
	}
	if e := exponent.FindString(p.s[n.end:min(len(p.s), n.end+6)]); e != "" {
		power, _ := strconv.Atoi(e[1:])
		n.value, n.step, n.whole, n.end = n.value*math.Pow10(power), n.step*math.Pow10(power), false, n.end+len(e)
	}
	if n.end-i > mostDigits {
		return number{end: n.end}, false
	}
	return n, !math.IsInf(n.value, 0)
}

// year reports whether n may be a year.
func (n number) year() bool { return n.whole && !n.grouped && n.value >= 1000 && n.value < 2200 }

// version reads v1.26 or V1.26.3, where word is the letter, and returns its end, or end if it is not a version.
func (p *parser) version(word string, end int) int {
	if strings.ToLower(word) != "v" || !digitAt(p.s, end) {
		return end
	}
	n, ok := p.number(end)
	if !ok || n.whole && n.dots == 0 {
		return end
	}
	n.dots = max(n.dots, 2)
	return p.finish(end, n, "")
}

// digits reads a number. It decides which separator groups digits and which precedes decimals.
func (p *parser) digits(i int) number {
	s := p.s[i:min(len(p.s), i+2*mostDigits)]
	end := 0
	for digitAt(s, end) {
		end++
	}
	whole, separator := s[:end], ""
	if m := grouped.FindString(s); m != "" && !digitAt(s, len(m)) && s[0] != '0' {
		sep := strings.TrimLeft(m, "0123456789")
		single := len(noDigit.FindAllString(m, -1)) == 1
		// 1,234 in English, 1.234 in German
		if decimal := p.commas == (sep[0] == ','); !single || !decimal || sep[0] != ',' && sep[0] != '.' {
			whole, end, separator = m, len(m), sep[:1]
		}
	} else if m := version.FindString(s); m != "" {
		n := decimal(whole, "", i+len(m))
		n.dots = strings.Count(m, ".")
		return n
	}
	inList := strings.HasPrefix(s[end:], ",") && i > 1 && p.s[i-1] == ',' && digitAt(p.s, i-2) // 1,2,3
	m := decimals.FindStringSubmatch(s[end:])
	if m == nil || inList || separator == m[0][:1] {
		return decimal(whole, "", i+end)
	}
	if again := decimals.FindString(s[end+len(m[0]):]); again != "" && again[0] == m[0][0] {
		return decimal(whole, "", i+end)
	}
	return decimal(whole, m[1], i+end+len(m[0]))
}

func decimal(whole, decimals string, end int) number {
	digits := noDigit.ReplaceAllString(whole, "")
	n := number{end: end, whole: decimals == "", grouped: digits != whole, step: math.Pow10(-len(decimals))}
	if decimals != "" {
		digits += "." + decimals
	}
	n.value, _ = strconv.ParseFloat(digits, 64) // only digits; too many yield infinity
	return n
}

// trailing returns the rounding step of a whole number by its zeros, at most a tenth of it: 41,200 may be rounded to
// hundreds.
func trailing(value float64) float64 {
	v, step := math.Abs(value), 1.0
	for v >= 10*step && math.Mod(v, step*10) == 0 {
		step *= 10
	}
	if step < 100 {
		return 1
	}
	return min(step, v/10)
}
