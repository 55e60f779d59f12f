package pdflayout

import (
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/pdf"

	"nightdesk/pipeline/knowledge/extract/document"
)

// newLine joins the words of a line, ordered from left to right.
func (l *pageLayout) newLine(words []pdf.Word) textLine {
	line := textLine{page: l.page, words: words, bold: len(words) > 0}
	if len(words) == 0 {
		return line
	}
	line.x0, line.y0, line.y1 = words[0].X0, math.Inf(1), math.Inf(-1)
	line.size = commonHeight(words)
	var b strings.Builder
	raised := false // the word before
	words = unspaced(words)
	for i := range words {
		if i > 0 && i+1 < len(words) && stackedAt(words, i, line.size) {
			words[i], words[i+1] = words[i+1], words[i] // an index below an exponent comes first
		}
		up := rise(words, i, line.size)
		w, text := words[i], fold(words[i].Text)
		if text == "" {
			continue
		}
		if i > 0 && b.Len() > 0 {
			before, gap := words[i-1], w.X0-words[i-1].X1
			close := up > minRise && !raised && gap < 0.3*line.size
			switch {
			case close && l.footnoteMark(before.Text, text):
				continue
			case close && isExponent(text) && (i+1 == len(words) || !strings.HasPrefix(words[i+1].Text, "⁄")):
				b.WriteByte('^')
			case gap > 0.09*line.size, close && isExponent(text), raised && i == 1 && up < minRise:
				b.WriteByte(' ')
			}
		}
		raised = up > minRise
		line.note = line.note || i == 0 && raised
		b.WriteString(text)
		line.bold = line.bold && (w.Bold || !hasLetter(text))
		line.x1 = max(line.x1, w.X1)
		line.y0, line.y1 = min(line.y0, w.Y0), max(line.y1, w.Y1)
	}
	line.text = strings.TrimSpace(b.String())
	return line
}

// commonHeight returns the most frequent height of words, weighted by their lengths, or 0.
func commonHeight(words []pdf.Word) (best float64) {
	weight, most := map[float64]int{}, 0
	for _, w := range words {
		h := math.Round((w.Y1-w.Y0)*4) / 4
		if weight[h] += len(w.Text); weight[h] > most {
			best, most = h, weight[h]
		}
	}
	return best
}

// unspaced joins letters that are set apart, as in "S p a c e d". Wider gaps separate words. Letters in the order of
// the alphabet are a list, and letters that stand as far apart as other words are names.
func unspaced(words []pdf.Word) []pdf.Word {
	var out []pdf.Word
	gap := func(i int) float64 { // before words[i]
		if i == 0 || i == len(words) {
			return math.Inf(1)
		}
		return words[i].X0 - words[i-1].X1
	}
	for i := 0; i < len(words); {
		n, least, descents, different := 1, math.Inf(1), 0, map[string]bool{}
		for ; letter(words[i]) && i+n < len(words) && letter(words[i+n]); n++ {
			least = min(least, gap(i+n))
			if words[i+n].Text <= words[i+n-1].Text {
				descents++
			}
			different[words[i+n].Text] = true
		}
		spaced := n >= 4 && descents > n/8 && len(different) > 2 && min(gap(i), gap(i+n)) > 1.3*least
		for k, w := range words[i : i+n] {
			if last := len(out) - 1; spaced && k > 0 && gap(i+k) < 1.6*least {
				out[last].Text, out[last].X1 = out[last].Text+w.Text, w.X1
				continue
			}
			out = append(out, w)
		}
		i += n
	}
	return out
}

// letter reports whether a word is one letter of a script with spaces.
func letter(w pdf.Word) bool {
	r, size := utf8.DecodeRuneInString(w.Text)
	return size == len(w.Text) && unicode.IsLetter(r) && !document.Ideograph(r)
}

// stackedAt reports whether words[i] is an exponent and the next word an index of the word before.
func stackedAt(words []pdf.Word, i int, size float64) bool {
	return words[i+1].X0 < words[i].X1 && words[i].X0-words[i-1].X1 < 0.1*size &&
		rise(words, i, size) > minRise && rise(words, i+1, size) < 0
}

// minRise is the least height of a raised word above the baseline, in line heights.
const minRise = 0.15

// rise returns how far the baseline of a small word is above that of the nearest word of the line's size, in line
// heights. It is 0 for words that are not small.
func rise(words []pdf.Word, i int, size float64) float64 {
	small := func(w pdf.Word) bool { return w.Y1-w.Y0 <= 0.85*size }
	if !small(words[i]) {
		return 0
	}
	base := func(w pdf.Word) float64 { return w.Y1 - (w.Y1-w.Y0)/4 } // see pdf.Word
	for d := 1; d < 8; d++ {
		for _, k := range []int{i - d, i + d} {
			if k >= 0 && k < len(words) && !small(words[k]) {
				return (base(words[k]) - base(words[i])) / size
			}
		}
	}
	return 0
}

// isExponent reports whether a raised text is marked as such: 10⁶ becomes 10^6, never 106, but 1st stays 1st.
func isExponent(text string) bool { return strings.ContainsRune("0123456789-−", firstRune(text)) }

const noteMarks = "0123456789*†‡,"

var tenPower = regexp.MustCompile(`(?:^|\D)10$`)

// footnoteMark reports whether a raised text after a word refers to a note: after a word or a sentence, or if a note
// on the page begins with it. After "m" or "10" a digit is an exponent instead.
func (l *pageLayout) footnoteMark(before, text string) bool {
	if strings.Trim(text, noteMarks) != "" {
		return false
	}
	last, letters := lastRune(before), utf8.RuneCountInString(before)
	switch {
	case unicode.IsLetter(last) && letters >= 4, strings.ContainsRune(".,;:!?”\"’", last):
		return true
	case unicode.IsLetter(last) && letters < 3, tenPower.MatchString(before):
		return l.notes[text] && len(text) > 1
	}
	return l.notes[text]
}

// notesOf returns the marks with which the notes of a page begin.
func notesOf(rows []textRow) map[string]bool {
	out := map[string]bool{}
	for _, r := range rows {
		for _, s := range r.segments {
			if rise(s.words, 0, commonHeight(s.words)) > minRise {
				out[s.words[0].Text] = true
			}
		}
	}
	return out
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
