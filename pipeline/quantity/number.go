package quantity

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
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
	parts, seps, ends := p.parts(i)
	n := p.compose(i, parts, seps, ends)
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

// parts returns the runs of digits that separators join.
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
		if sep != "," && sep != "." && !(groupAt(p.s, end+len(sep)) && len(parts[0]) <= 3 && (len(seps) == 0 || seps[0] == sep)) {
			return parts, seps, ends // a new number
		}
		seps = append(seps, sep)
		i = end + len(sep)
	}
}

// groupAt reports exactly three digits.
func groupAt(s string, i int) bool {
	return digitAt(s, i) && digitAt(s, i+1) && digitAt(s, i+2) && !digitAt(s, i+3)
}

// compose makes a number of runs of digits: which separator groups and which one stands before decimals.
func (p *parser) compose(i int, parts, seps []string, ends []int) number {
	last := len(parts) - 1
	switch {
	case last == 0:
		return plain(parts, "", ends[0])
	case same(seps):
		comma := seps[0] == ","
		grouping := groups(parts, comma)
		switch {
		case seps[0] != "," && seps[0] != ".":
			return plain(parts, "", ends[last])
		case last == 1 && grouping && comma != p.commas: // 1,234 in English, 1.234 in German
			return plain(parts, "", ends[1])
		case last == 1 && (comma || seps[0] == "."):
			return plain(parts[:1], parts[1], ends[1])
		case grouping:
			return plain(parts, "", ends[last])
		case !comma: // 1.26.3
			n := plain(parts[:1], "", ends[last])
			n.dots = last
			return n
		}
	case same(seps[:last-1]) && seps[last-1] != seps[0] && (seps[last-1] == "." || seps[last-1] == ",") && groups(parts[:last], seps[0] == ","):
		return plain(parts[:last], parts[last], ends[last])
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

func same(seps []string) bool {
	for _, s := range seps {
		if s != seps[0] {
			return false
		}
	}
	return true
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

// exponent takes e9, ×10^9 and ×10⁹.
func (p *parser) exponent(n *number) {
	rest := p.s[n.end:]
	if len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		at := 1
		if rest[1] == '+' || rest[1] == '-' {
			at = 2
		}
		end := at
		for digitAt(rest, end) {
			end++
		}
		if end > at && end-at <= 3 && !attached(rest, end) {
			p.raise(n, rest[1:end], end)
		}
		return
	}
	trimmed := strings.TrimLeft(rest[:min(len(rest), 12)], " \u00a0")
	for _, times := range []string{"×", "x", "·", "*"} {
		body, ok := strings.CutPrefix(trimmed, times)
		if !ok {
			continue
		}
		body = strings.TrimLeft(body, " \u00a0")
		power, ok := strings.CutPrefix(body, "10")
		if !ok {
			return
		}
		base := strings.Index(rest, body) + len("10")
		digits, used := superscript(power)
		if caret, ok := strings.CutPrefix(power, "^"); ok {
			end := 0
			for end < len(caret) && (digitAt(caret, end) || end == 0 && caret[0] == '-') {
				end++
			}
			digits, used = caret[:end], end+1
		}
		if digits != "" && len(digits) <= 3 {
			p.raise(n, digits, base+used)
		}
		return
	}
}

func (p *parser) raise(n *number, digits string, length int) {
	power, err := strconv.Atoi(digits)
	if err != nil || power > 300 || power < -300 {
		return
	}
	n.value *= math.Pow10(power)
	n.step *= math.Pow10(power)
	n.end += length
	n.whole = false
}

// superscript reads raised digits: ⁹, ⁻⁶.
func superscript(s string) (digits string, used int) {
	for used < len(s) {
		r, size := utf8.DecodeRuneInString(s[used:])
		d, ok := raised[r]
		if !ok {
			break
		}
		digits += d
		used += size
	}
	return digits, used
}

var raised = map[rune]string{'⁰': "0", '¹': "1", '²': "2", '³': "3", '⁴': "4", '⁵': "5", '⁶': "6", '⁷': "7", '⁸': "8", '⁹': "9", '⁻': "-"}
