package office

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// builtinFormats are the number formats without a code in the file. Dates that follow the reader's country are written
// as ISO dates.
var builtinFormats = map[string]string{
	"1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "9": "0%", "10": "0.00%", "11": "0.00E+00", "14": "yyyy-mm-dd",
	"15": "d-mmm-yy", "16": "d-mmm", "17": "mmm-yy", "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM", "20": "h:mm",
	"21": "h:mm:ss", "22": "yyyy-mm-dd h:mm", "37": "#,##0", "38": "#,##0", "39": "#,##0.00", "40": "#,##0.00",
	"41": "#,##0", "42": "#,##0", "43": "#,##0.00", "44": "#,##0.00", "45": "mm:ss", "46": "[h]:mm:ss", "47": "mm:ss",
}

// formatPart is a letter of a number format with its repetitions, or literal text.
type formatPart struct {
	letter  byte // lower case; 0 for literal text
	text    string
	elapsed bool // in brackets: not modulo a day or an hour
}

// formatParts splits a number format at its semicolons and each of these sections into parts.
func formatParts(code string) (sections [][]formatPart) {
	var parts []formatPart
	for code != "" {
		n, part := 1, formatPart{text: code[:1]}
		switch c := code[0]; {
		case c == ';':
			sections = append(sections, parts)
			parts, code = nil, code[1:]
			continue
		case c == '"':
			end := strings.IndexByte(code[1:], '"')
			if end < 0 {
				end = len(code) - 1
			}
			n, part.text = min(end+2, len(code)), code[1:end+1]
		case c == '\\' && len(code) > 1:
			n, part.text = 2, code[1:2]
			if code[1] >= 0x80 {
				n, part.text = 1, ""
			}
		case (c == '_' || c == '*') && len(code) > 1:
			n, part.text = 2, ""
		case c == '[':
			inside, _, _ := strings.Cut(code[1:], "]")
			n, part = min(len(inside)+2, len(code)), bracketed(inside)
		case len(code) >= 5 && strings.EqualFold(code[:5], "am/pm"):
			n, part = 5, formatPart{letter: 'a', text: "am/pm"}
		case strings.IndexByte("ymdhsYMDHS0#?.,%/eE@", c) >= 0:
			part.letter = c | 0x20*(c>>6&1)
			for n < len(code) && code[n] == c && strings.IndexByte("ymdhsYMDHS", c) >= 0 {
				n++
			}
			part.text = code[:n]
		}
		parts, code = append(parts, part), code[n:]
	}
	return append(sections, parts)
}

// bracketed returns what brackets mean: a currency, a span of time, or nothing that is shown.
func bracketed(inside string) formatPart {
	if currency, ok := strings.CutPrefix(inside, "$"); ok {
		currency, _, _ = strings.Cut(currency, "-")
		return formatPart{text: currency}
	}
	if inside != "" && strings.Trim(strings.ToLower(inside), "hms") == "" {
		return formatPart{letter: inside[0] | 0x20, text: inside, elapsed: true}
	}
	return formatPart{}
}

// shown returns a number as a number format shows it. epoch is the day with number 0 of the file.
func shown(value, code string, epoch time.Time) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return value
	}
	if len(code) > 255 || code == "" || strings.EqualFold(code, "General") || code == "@" {
		return general(n)
	}
	sections := formatParts(code)
	section := sections[0]
	switch {
	case n < 0 && len(sections) > 1:
		section, n = sections[1], -n
	case n == 0 && len(sections) > 2:
		section = sections[2]
	}
	letters := ""
	for _, p := range section {
		if p.letter != 0 {
			letters += string(p.letter)
		}
	}
	switch {
	case strings.Contains(strings.ToLower(code), "general"):
		return general(n)
	case strings.ContainsAny(letters, "ymdhs"):
		return shownDate(n, section, letters, epoch)
	}
	return shownNumber(n, section, letters)
}

// general returns a number as a cell without a format shows it.
func general(n float64) string {
	if n != math.Trunc(n) {
		n, _ = strconv.ParseFloat(strconv.FormatFloat(n, 'g', 10, 64), 64)
	}
	if math.Abs(n) >= 1e15 {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// shownNumber writes a number between the literal parts of a section.
func shownNumber(n float64, section []formatPart, letters string) string {
	if strings.Contains(letters, "/") { // fractions
		return general(n)
	}
	digits := strings.NewReplacer("%", "", "@", "").Replace(letters)
	n *= math.Pow(100, float64(min(strings.Count(letters, "%"), 3)))
	digits, _, scientific := strings.Cut(digits, "e")
	whole := strings.TrimRight(digits, ",")
	n /= math.Pow(1000, float64(len(digits)-len(whole)))
	whole, decimals, _ := strings.Cut(whole, ".")
	text := ""
	if scientific {
		text = strconv.FormatFloat(n, 'E', len(decimals), 64)
	} else {
		text = fixed(math.Abs(n), whole, decimals)
	}
	var b strings.Builder
	if n < 0 && !scientific && strings.Trim(text, "0.,") != "" {
		b.WriteByte('-')
	}
	written := false
	for _, p := range section {
		switch {
		case scientific && p.letter == 0 && strings.Contains("+-", p.text): // of the exponent
		case p.letter == 0 || p.letter == '%':
			b.WriteString(p.text)
		case !written && p.letter != '@':
			b.WriteString(text)
			written = true
		}
	}
	return strings.TrimSpace(b.String())
}

// fixed writes a number with the digits that a format asks for, in groups of thousands if there is a comma in them.
func fixed(n float64, whole, decimals string) string {
	places := min(len(decimals), 15)
	scale := math.Pow(10, float64(places))
	if n < 1e15/scale {
		n = math.Round(n*scale*(1+1e-14)) / scale // half up, as decimals
	}
	left, right, _ := strings.Cut(strconv.FormatFloat(n, 'f', places, 64), ".")
	for least := strings.LastIndexByte(decimals, '0') + 1; len(right) > least && right[len(right)-1] == '0'; {
		right = right[:len(right)-1]
	}
	if left = strings.TrimLeft(left, "0"); len(left) < strings.Count(whole, "0") {
		left = strings.Repeat("0", strings.Count(whole, "0")-len(left)) + left
	}
	if strings.Contains(whole, ",") {
		for at := len(left) - 3; at > 0; at -= 3 {
			left = left[:at] + "," + left[at:]
		}
	}
	if right != "" {
		return left + "." + right
	}
	return cmp.Or(left, "0")
}

// shownDate writes a day and time, or a span of time.
func shownDate(n float64, section []formatPart, letters string, epoch time.Time) string {
	if n < 0 || n > 2_958_465 { // the year 9999
		return general(n)
	}
	if n < 60 && epoch.Year() == 1899 {
		epoch = epoch.AddDate(0, 0, 1) // the file counts a 29 February 1900
	}
	seconds := int(math.Round(n * 86_400))
	day := epoch.Add(time.Duration(seconds) * time.Second)
	halves := strings.Contains(letters, "a")
	var b strings.Builder
	last := byte(0) // letter before
	for i, p := range section {
		layout := map[string]string{
			"y": "06", "yy": "06", "yyy": "2006", "yyyy": "2006", "m": "1", "mm": "01", "mmm": "Jan", "mmmm": "January",
			"d": "2", "dd": "02", "ddd": "Mon", "dddd": "Monday", "s": "5", "ss": "05", "am/pm": "PM",
		}[strings.ToLower(p.text)]
		minute := p.letter == 'm' && len(p.text) < 3 && (last == 'h' || secondsFollow(section[i+1:]))
		switch {
		case p.elapsed:
			unit := map[byte]int{'h': 3600, 'm': 60, 's': 1}[p.letter]
			fmt.Fprintf(&b, "%0*d", len(p.text), seconds/unit)
		case p.letter == 0 || strings.IndexByte(".,/", p.letter) >= 0:
			b.WriteString(p.text)
		case minute:
			b.WriteString(day.Format("04"[2-len(p.text):]))
		case p.letter == 'h' && halves:
			b.WriteString(day.Format("3"))
		case p.letter == 'h':
			fmt.Fprintf(&b, "%0*d", len(p.text), day.Hour())
		case layout != "":
			b.WriteString(day.Format(layout))
		}
		if p.letter > '@' {
			last = p.letter
		}
	}
	return strings.TrimRight(strings.TrimSpace(b.String()), ".")
}

// secondsFollow reports whether the next letter of a format is that of seconds.
func secondsFollow(section []formatPart) bool {
	for _, p := range section {
		if p.letter > '@' {
			return p.letter == 's'
		}
	}
	return false
}
