package wordvec

import (
	"iter"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
)

// known returns the words of a text that have a vector, in order, each as often as it stands there.
func (t *table) known(text string) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWordRune(r) && !joins(r) }) {
			field = strings.TrimFunc(field, joins)
			if w, ok := t.find(field); ok {
				if !yield(w) {
					return
				}
				continue
			}
			for part := range strings.FieldsFuncSeq(field, joins) {
				if w, ok := t.find(part); ok {
					if !yield(w) {
						return
					}
				} else if !t.cut(part, yield) {
					return
				}
			}
		}
	}
}

// longestWord is the longest word that is looked for in a text without spaces, in characters.
const longestWord = 6

// cut finds the words of a text in a script without spaces between words, each time the longest that is known. It
// returns false when yield did.
func (t *table) cut(text string, yield func(int32) bool) bool {
	if strings.IndexFunc(text, isUnspaced) < 0 {
		return true
	}
	runes := []rune(text)
	for at := 0; at < len(runes); {
		n := min(longestWord, len(runes)-at)
		for ; n > 0; n-- {
			if w, ok := t.find(string(runes[at : at+n])); ok {
				if !yield(w) {
					return false
				}
				break
			}
		}
		at += max(n, 1)
	}
	return true
}

func isUnspaced(r rune) bool {
	return text.Ideograph(r) || unicode.Is(unicode.Thai, r)
}

// find returns a word as it is written, else in lower case: many files have no other.
func (t *table) find(word string) (int32, bool) {
	if word == "" {
		return 0, false
	}
	w, ok := t.index[word]
	if !ok {
		w, ok = t.index[strings.ToLower(word)]
	}
	return w, ok
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }

// joins reports a character that may stand within a word: a word that is not known as a whole is cut there.
func joins(r rune) bool { return strings.ContainsRune("-_'’./", r) }
