package support

import (
	"strconv"
	"strings"

	"nightdesk/pipeline/quantity"
)

// figures returns the digits of a quantity as it is written, without separators and trailing decimal zeros.
func figures(raw string) string {
	var b strings.Builder
	for _, r := range raw {
		if r >= '0' && r <= '9' || r == '.' && b.Len() > 0 {
			b.WriteRune(r)
		} else if b.Len() > 0 && r != ',' && r != ' ' && r != '\'' && r != '\u00a0' && r != '\u202f' {
			break
		}
	}
	text := strings.TrimRight(b.String(), ".")
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// written returns the number of a quantity as it is written, without its unit; of number words, in figures.
func written(raw string) string {
	if f := figures(raw); f != "" {
		return f
	}
	for length := range 3 { // twenty-five years: the longest number that its first words make
		words := strings.Fields(raw)
		if n := 3 - length; n <= len(words) {
			first := strings.Join(words[:n], " ")
			if found := quantity.Parse(first); len(found) == 1 && found[0].Kind == quantity.Number && found[0].End == len(first) {
				return strconv.FormatFloat(found[0].Low, 'f', -1, 64)
			}
		}
	}
	return strings.ToLower(raw)
}

// magnitudes are the powers of ten by their names.
var magnitudes = map[string]float64{"": 1, "thousand": 1e3, "万": 1e4, "million": 1e6, "亿": 1e8, "billion": 1e9, "trillion": 1e12}

// magnitudeOf returns the word for a power of ten in a quantity, in one spelling.
func magnitudeOf(raw string) string {
	raw = strings.ToLower(raw)
	for _, m := range []struct{ name, words string }{
		{"trillion", "trillion tn 兆"}, {"billion", "billion bn milliarde mrd"}, {"million", "million mio mn mln"}, {"thousand", "thousand tausend tsd"}, {"亿", "亿 億"}, {"万", "万 萬"},
	} {
		for word := range strings.FieldsSeq(m.words) {
			if strings.Contains(raw, word) {
				return m.name
			}
		}
	}
	return ""
}
