package pdflayout

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"

	"nightdesk/pipeline/knowledge/extract/document"
)

// newLine joins the words of a line, ordered from left to right.
func newLine(page int, words []pdf.Word) textLine {
	line := textLine{page: page, words: words, bold: len(words) > 0}
	if len(words) == 0 {
		return line
	}
	line.x0, line.y0, line.y1 = words[0].X0, math.Inf(1), math.Inf(-1)
	weight, best := map[float64]int{}, 0
	for _, w := range words {
		h := math.Round((w.Y1-w.Y0)*4) / 4
		if weight[h] += len(w.Text); weight[h] > best {
			best, line.size = weight[h], h
		}
	}
	var b strings.Builder
	for i, w := range words {
		text := fold(w.Text)
		if text == "" {
			continue
		}
		if i > 0 {
			before := words[i-1]
			if footnoteMark(before, w, line.size) {
				continue
			}
			if b.Len() > 0 && w.X0-before.X1 > 0.09*line.size {
				b.WriteByte(' ')
			}
		}
		b.WriteString(text)
		line.bold = line.bold && (w.Bold || !hasLetter(text))
		line.x1 = max(line.x1, w.X1)
		line.y0, line.y1 = min(line.y0, w.Y0), max(line.y1, w.Y1)
	}
	line.text = strings.TrimSpace(b.String())
	return line
}

// footnoteMark reports whether w is a small raised number after a word. After "m" or "10" it is an exponent instead.
func footnoteMark(before, w pdf.Word, size float64) bool {
	if w.Y1-w.Y0 > 0.85*size || w.Y1 > before.Y1-0.1*size || strings.Trim(w.Text, "0123456789*†‡") != "" ||
		w.X0-before.X1 > 0.3*size {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before.Text)
	return utf8.RuneCountInString(before.Text) >= 4 && unicode.IsLetter(last) || strings.ContainsRune(".,;:!?)”\"’", last)
}

var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// fold expands ligatures and removes invisible characters and characters that the font does not map.
func fold(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		plain = plain && s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\u00ad' { // kept until lines are joined
			return r
		}
		if document.Invisible(r) || r == '\ufffd' || unicode.Is(unicode.Co, r) {
			return -1
		}
		return r
	}, ligatures.Replace(s))
}

func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }
