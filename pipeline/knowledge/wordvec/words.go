package wordvec

import (
	"iter"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
)

// known returns the words of a text that have a vector, in order and with repetitions.
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

// longestWord is the maximum length of a word searched for in text without spaces, in characters.
const longestWord = 6

// cut finds the words in text of a script without spaces by always taking the longest known word. It returns false if
// yield does.
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

// find looks up a word as written, then in lower case, because many files contain only lower-case words.
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

// joins reports whether r may occur inside a word. Words that are not known as a whole are split there.
func joins(r rune) bool { return strings.ContainsRune("-_'’./", r) }
