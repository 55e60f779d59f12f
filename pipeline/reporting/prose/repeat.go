package prose

import (
	"slices"
	"strings"
	"unicode"
)

// SentenceKey normalizes a sentence to its words: it ignores case, white space and punctuation.
func SentenceKey(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !IsWord(r) }), " ")
}

// minRepeatWords is the minimum length of a repetition, in words. Shorter sentences may be equal by chance.
const minRepeatWords = 5

func TooShort(key string) bool { return CountWords(key) < minRepeatWords }

// item is a sentence or paragraph of a text.
type item struct {
	key     string // equal for items with the same words
	again   bool   // repeats an earlier item
	heading bool
}

// spare returns which items can be removed. The text after an item may refer back to it, which no rule can detect.
// Repeated items are therefore removed only at the end of their part, or if the item before them equals the last of
// them.
func spare(list []item) []bool {
	gone := make([]bool, len(list))
	for i := 0; i < len(list); i++ {
		end := i
		for end < len(list) && list[end].again {
			end++
		}
		if end < len(list) && !list[end].heading {
			for end > i && (i == 0 || list[end-1].key != list[i-1].key) {
				end--
			}
		}
		for ; i < end; i++ {
			gone[i] = true
		}
	}
	return gone
}

// WithoutParagraphs removes the paragraphs that repeat said (see spare) and returns their sentences. It removes nothing
// if no text would be left.
func WithoutParagraphs(body string, said map[string]bool) (left string, dropped []string) {
	all := Paragraphs(body)
	list, sentences := make([]item, len(all)), make([][]string, len(all))
	for i, p := range all {
		list[i] = item{key: SentenceKey(Plain(p.Text)), heading: p.Heading, again: p.prose}
		for _, s := range statementsIn(body, p, false) {
			list[i].again = list[i].again && said[s.Key()] && !TooShort(s.Key())
			sentences[i] = append(sentences[i], s.Text)
		}
	}
	var out []string
	for i, gone := range spare(list) {
		if gone {
			dropped = append(dropped, sentences[i]...)
		} else {
			out = append(out, all[i].Text)
		}
	}
	if left = Tidy(strings.Join(out, "\n\n")); len(dropped) > 0 && left != "" {
		return left, dropped
	}
	return body, nil
}

// WithoutLoops removes sentences that repeat an earlier one of the same text (see spare) and returns them. Weak models
// produce such loops.
func WithoutLoops(body string) (left string, dropped []string) {
	said := map[string]bool{}
	var list []item
	var statements []Statement
	for _, p := range Paragraphs(body) {
		if !p.prose { // a list may depend on the sentence that introduces it
			list, statements = append(list, item{heading: p.Heading}), append(statements, Statement{})
			continue
		}
		for _, s := range statementsIn(body, p, false) {
			key := s.Key()
			list, statements = append(list, item{key: key, again: said[key] && !TooShort(key)}), append(statements, s)
			said[key] = true
		}
	}
	left = body
	for i, gone := range slices.Backward(spare(list)) {
		if gone {
			left, dropped = statements[i].WithText(left, ""), append(dropped, statements[i].Text)
		}
	}
	slices.Reverse(dropped)
	if left = Tidy(left); len(dropped) > 0 && left != "" {
		return left, dropped
	}
	return body, nil
}

// Uncited counts the sentences of a text without a marker.
func Uncited(body string) (n int) {
	for _, p := range Paragraphs(body) {
		for _, s := range statementsIn(body, p, false) {
			if p.prose && len(s.IDs) == 0 {
				n++
			}
		}
	}
	return n
}

func IsWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// CountWords counts the words of Markdown without markers and markup. A Chinese or Japanese character counts as one
// word.
func CountWords(markdown string) int {
	n, inWord := 0, false
	for _, r := range AnyMarker.ReplaceAllString(markdown, "") {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			n++
			inWord = false
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if !inWord {
				n++
			}
			inWord = true
		case unicode.IsSpace(r) || r == '|' || r == '/':
			inWord = false
		}
	}
	return n
}
