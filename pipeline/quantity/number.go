package quantity

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// number is a number as it is written.
type number struct {
	value   float64
	step    float64 // of the last place that is written
	end     int
	whole   bool // no decimals
	grouped bool // thousands are set apart
	dots    int  // more than one: a version
}

// separators may stand between groups of three digits.
var separators = []string{",", ".", "'", "’", " ", "\u00a0", "\u202f", "\u2009"}

// number reads the digits at byte i. When they are no number, such as a clock time, it returns false and where they end.
func (p *parser) number(i int) (number, bool) {
	n := p.compose(p.parts(i))
	if next := n.end; next < len(p.s) && (p.s[next] == ':' || p.s[next] == '/') && digitAt(p.s, next+1) { // 10:30, 24/7
		for next < len(p.s) && (digitAt(p.s, next) || p.s[next] == ':' || p.s[next] == '/') {
			next++
		}
		return number{end: next}, false
	}
	if math.IsInf(n.value, 0) || n.end-i > 60 {
		return number{end: n.end}, false
	}
	p.exponent(&n)
	return n, !math.IsInf(n.value, 0)
}

// parts returns the runs of digits that separators join, and where each ends.
func (p *parser) parts(i int) (parts, seps []string, ends []int) {
	for {
		end := i
		for digitAt(p.s, end) {
			end++
		}
		parts, ends = append(parts, p.s[i:end]), append(ends, end)
		sep := ""
		for _, c := range separators {
			if strings.HasPrefix(p.s[end:], c) && digitAt(p.s, end+len(c)) {
				sep = c
			}
		}
		inList := sep == "," && len(parts) == 1 && i > 1 && p.s[i-1] == ',' && digitAt(p.s, i-2)
		if sep == "" || inList || len(parts) > 30 {
			return parts, seps, ends
		}
		next := end + len(sep)
		group := digitAt(p.s, next+1) && digitAt(p.s, next+2) && !digitAt(p.s, next+3)
		if sep != "," && sep != "." && !(group && len(parts[0]) <= 3 && (len(seps) == 0 || seps[0] == sep)) {
			return parts, seps, ends // a new number
		}
		seps = append(seps, sep)
		i = next
	}
}

// compose makes a number of runs of digits: which separator groups and which one stands before decimals.
func (p *parser) compose(parts, seps []string, ends []int) number {
	last := len(parts) - 1
	if last == 0 {
		return plain(parts, "", ends[0])
	}
	sep, comma := seps[0], seps[0] == ","
	switch {
	case strings.Join(seps, "") != strings.Repeat(sep, last): // 1,234.5
		decimals := seps[last-1]
		alike := strings.Join(seps[:last-1], "") == strings.Repeat(sep, last-1)
		if alike && decimals != sep && (decimals == "." || decimals == ",") && groups(parts[:last], comma) {
			return plain(parts[:last], parts[last], ends[last])
		}
	case !comma && sep != ".":
		return plain(parts, "", ends[last])
	case last == 1 && groups(parts, comma) && comma != p.commas: // 1,234 in English, 1.234 in German
		return plain(parts, "", ends[1])
	case last == 1:
		return plain(parts[:1], parts[1], ends[1])
	case groups(parts, comma):
		return plain(parts, "", ends[last])
	case !comma: // 1.26.3
		n := plain(parts[:1], "", ends[last])
		n.dots = last
		return n
	}
	return plain(parts[:1], "", ends[0]) // a list: 1,2,3
}

func plain(whole []string, decimals string, end int) number {
	text := strings.Join(whole, "")
	n := number{end: end, whole: decimals == "", grouped: len(whole) > 1, step: math.Pow10(-len(decimals))}
	if decimals != "" {
		text += "." + decimals
	}
	n.value, _ = strconv.ParseFloat(text, 64) // digits only; too many are infinite
	return n
}

// groups reports groups of three digits behind one to three; with commas also the Indian way, 12,34,567.
func groups(parts []string, indian bool) bool {
	if len(parts[0]) > 3 || parts[0][0] == '0' {
		return false
	}
	three, two := true, indian && len(parts) > 2 && len(parts[0]) <= 2 && len(parts[len(parts)-1]) == 3
	for i, part := range parts[1:] {
		three = three && len(part) == 3
		two = two && (i == len(parts)-2 || len(part) == 2)
	}
	return three || two
}

// trailing is the step of a whole number by its zeros: 41,200 may be rounded to hundreds. At most a tenth of it.
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

// power is e9, ×10^9 or ×10⁹ behind a number.
var power = regexp.MustCompile(`^(?:[eE]([+-]?\d{1,3})(?:[^\p{L}\d]|$)|[ \x{a0}]?[×x·*][ \x{a0}]?10(?:\^(-?\d{1,3})|(⁻?[⁰¹²³⁴-⁹]{1,3})))`)

var raised = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "⁻", "-")

// exponent takes a power of ten.
func (p *parser) exponent(n *number) {
	m := power.FindStringSubmatchIndex(p.s[n.end:min(len(p.s), n.end+30)])
	for group := 2; m != nil && group < len(m); group += 2 {
		if m[group] < 0 {
			continue
		}
		exponent, err := strconv.Atoi(raised.Replace(p.s[n.end+m[group] : n.end+m[group+1]]))
		if err != nil || exponent > 300 || exponent < -300 {
			return
		}
		n.value, n.step, n.whole = n.value*math.Pow10(exponent), n.step*math.Pow10(exponent), false
		n.end += m[group+1]
		return
	}
}
