package text

import (
	"strings"
	"unicode/utf8"
)

// Asks reports whether at least half of the sentences of s are questions, as in a post of a forum or a list of
// questions: such a text answers nothing.
func Asks(s string) bool {
	sentences := Sentences(s)
	asking := 0
	for _, sentence := range sentences {
		last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(sentence.Text, " \"'”’»)"))
		if strings.ContainsRune("?？؟", last) {
			asking++
		}
	}
	return asking > 0 && 2*asking >= len(sentences)
}
