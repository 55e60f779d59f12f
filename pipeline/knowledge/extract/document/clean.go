package document

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Clean returns text as one line of valid UTF-8 with collapsed white space, without invisible and control characters.
// It drops line breaks between ideographs, because Chinese and Japanese have no spaces between words.
func Clean(text string) string {
	if isClean(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	space, broken := false, false
	var last rune
	for _, r := range text {
		switch {
		case r == '\n':
			space, broken = true, true
			continue
		case unicode.IsSpace(r):
			space = true
			continue
		case Invisible(r):
			continue
		}
		joins := broken && Ideograph(last) && Ideograph(r)
		if space && b.Len() > 0 && !joins {
			b.WriteByte(' ')
		}
		space, broken = false, false
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// spacedLetters matches a word whose letters are set apart, as typists emphasize it.
var spacedLetters = regexp.MustCompile(`(?:^|[^\pL\pN])[\p{Lu}\p{Ll}](?:[ \x{a0}][\p{Lu}\p{Ll}]){4,}(?:$|[^\pL\pN])`)

// unspaced closes up words whose letters are set apart: "S p a c e d" becomes "Spaced". Letters in the order of the
// alphabet are a list.
func unspaced(text string) string {
	letters, size := 0, 0
	for _, r := range text {
		switch {
		case r != ' ' && r != '\u00a0':
			size++
			continue
		case size == 1:
			letters++
		case size > 1:
			letters = 0
		}
		if size = 0; letters > 3 {
			return spacedLetters.ReplaceAllStringFunc(text, closedUp)
		}
	}
	return text
}

func closedUp(word string) string {
	letters := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
	if slices.IsSorted(strings.Split(strings.ToLower(strings.Join(letters, "")), "")) {
		return word
	}
	start := strings.Index(word, letters[0])
	end := strings.LastIndex(word, letters[len(letters)-1]) + len(letters[len(letters)-1])
	return word[:start] + strings.Join(letters, "") + word[end:]
}

// isClean is the fast path of clean: text is printable ASCII with only single inner spaces.
func isClean(text string) bool {
	last := byte(' ')
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return text == "" || last != ' '
}

// Invisible reports whether r is an invisible character.
func Invisible(r rune) bool { return topicqueue.Hidden(r) || r == '\n' || r == '\t' }

// cleanCode keeps lines and indentation, but removes trailing blanks and empty lines at both ends.
func cleanCode(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u00a0':
			return ' '
		case Invisible(r):
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// plainStart removes a code fence from the start of a paragraph, because it would open an unterminated block.
func plainStart(text string) string {
	for strings.HasPrefix(text, "```") {
		text = strings.TrimLeft(strings.TrimLeft(text, "`"), " ")
	}
	return text
}

// Ideograph reports whether r is a Chinese or Japanese letter or punctuation mark.
func Ideograph(r rune) bool {
	mark := r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60
	return mark || text.Ideograph(r)
}

// Set returns the set of the words in a list separated by white space.
func Set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
