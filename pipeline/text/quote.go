package text

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Folded is a text normalized for comparing quotations, with a mapping back to its bytes. See Fold.
type Folded struct {
	text  string
	bytes []byte
	start []int // by byte of the folded form: start and end of its rune in text
	end   []int
}

// Fold prepares a text for any number of Find calls. It takes about 17 bytes of memory per byte of text.
func Fold(text string) Folded {
	f := Folded{
		text:  text,
		bytes: make([]byte, 0, len(text)),
		start: make([]int, 0, len(text)),
		end:   make([]int, 0, len(text)),
	}
	add := func(s string, start, end int) {
		for i := range len(s) {
			f.bytes = append(f.bytes, s[i])
			f.start = append(f.start, start)
			f.end = append(f.end, end)
		}
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch plain, special := plainForm[r]; {
		case unicode.IsSpace(r):
			if n := len(f.bytes); n > 0 && f.bytes[n-1] != ' ' {
				add(" ", i, i+size)
			}
		case special:
			add(plain, i, i+size)
		default:
			add(text[i:i+size], i, i+size)
		}
		i += size
	}
	if n := len(f.bytes); n > 0 && f.bytes[n-1] == ' ' {
		f.bytes = f.bytes[:n-1]
	}
	return f
}

// plainForm maps typographic marks to their keyboard equivalents.
var plainForm = map[rune]string{
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '′': "'", '`': "'", '´': "'",
	'“': `"`, '”': `"`, '„': `"`, '‟': `"`, '″': `"`, '«': `"`, '»': `"`,
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-",
	'…': "...",
}

// String returns the folded form, which is equal for texts that differ only in white space and in typographic marks.
func (f Folded) String() string { return string(f.bytes) }

// Find returns the position of quote in the text: text[start:end], bytes, on rune boundaries. Runs of white space equal
// one space; typographic quotation marks, apostrophes and dashes equal their plain forms. Letter case counts, except
// for the first letter. Find ignores quotation marks or an ellipsis around the quote, or a final full stop, if a model
// added them.
//
// A match never begins or ends inside a word or a number: "3.1 seconds" does not match "13.1 seconds", nor "able to"
// "unable to". Find returns the first match. ok is false without a match, if quote has no letter or digit, and if it is
// not UTF-8. Never fails; time grows with the length of the text.
func (f Folded) Find(quote string) (start, end int, ok bool) {
	for start, end := range f.All(quote) {
		return start, end, true
	}
	return 0, 0, false
}

// All yields all matches in order, for the first form of quote (see Find) that occurs in the text.
func (f Folded) All(quote string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		if !utf8.ValidString(quote) {
			return
		}
		whole := string(Fold(quote).bytes)
		for _, candidate := range []string{whole, strings.Trim(whole, `"' `), strings.Trim(whole, `"'. `)} {
			for _, form := range []string{candidate, otherCase(candidate)} {
				if found, more := f.each(form, yield); found || !more {
					return
				}
			}
		}
	}
}

// otherCase returns s with its first letter in the other case, or "" if that letter has no case.
func otherCase(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsUpper(r):
		return string(unicode.ToLower(r)) + s[size:]
	case unicode.IsLower(r):
		return string(unicode.ToUpper(r)) + s[size:]
	}
	return ""
}

// each yields the positions of a folded quote. more is false if yield asked to stop.
func (f Folded) each(quote string, yield func(start, end int) bool) (found, more bool) {
	if strings.IndexFunc(quote, LetterOrDigit) < 0 {
		return false, true
	}
	for from := 0; from <= len(f.bytes)-len(quote); {
		i := bytes.Index(f.bytes[from:], []byte(quote))
		if i < 0 {
			break
		}
		i += from
		start, end := f.start[i], f.end[i+len(quote)-1]
		if !joined(f.text[:start], f.text[start:]) && !joined(f.text[:end], f.text[end:]) {
			found = true
			if !yield(start, end) {
				return true, false
			}
		}
		from = i + 1
	}
	return found, true
}

// joined reports whether a cut between these two texts would split a word or a number.
func joined(before, after string) bool {
	last, lastSize := utf8.DecodeLastRuneInString(before)
	first, firstSize := utf8.DecodeRuneInString(after)
	if inWord(last) && inWord(first) {
		return true
	}
	if pointOrComma(last) && unicode.IsDigit(first) { // 1.|5
		r, _ := utf8.DecodeLastRuneInString(before[:len(before)-lastSize])
		return unicode.IsDigit(r)
	}
	if unicode.IsDigit(last) && pointOrComma(first) { // 1|.5
		r, _ := utf8.DecodeRuneInString(after[firstSize:])
		return unicode.IsDigit(r)
	}
	return false
}

func pointOrComma(r rune) bool { return r == '.' || r == ',' }

// LetterOrDigit reports whether r is a letter or a digit of any script: text without one says nothing.
func LetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inWord reports whether r is a character of a script that separates words.
func inWord(r rune) bool {
	return (LetterOrDigit(r) || unicode.IsMark(r)) && !Wide(r)
}
