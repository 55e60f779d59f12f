package reporting

import (
	"slices"
	"strings"
)

// sentenceKey normalizes a sentence to its words: it ignores case, white space and punctuation.
func sentenceKey(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !isWord(r) }), " ")
}

// minRepeatWords is the minimum length of a repetition, in words. Shorter sentences may be equal by chance.
const minRepeatWords = 5

func tooShort(key string) bool { return countWords(key) < minRepeatWords }

// dropRepeated removes paragraphs whose sentences all appear in another section, if nothing can refer back to them (see
// spare). Sections kept from the last report are not changed. A section that would become empty stays as it is.
func dropRepeated(sections []part) {
	said := map[string]bool{}
	note := func(body string) {
		for _, s := range statementsOf(body, false) {
			said[s.key()] = true
		}
	}
	for _, s := range sections {
		if s.past != nil {
			note(s.Body)
		}
	}
	for i := range sections {
		if s := &sections[i]; s.past == nil {
			body, dropped := withoutParagraphs(s.Body, said)
			s.Body, s.Repeated = body, append(s.Repeated, dropped...)
			note(s.Body)
		}
	}
}

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

// withoutParagraphs removes the paragraphs that repeat said (see spare) and returns their sentences. It removes nothing
// if no text would be left.
func withoutParagraphs(body string, said map[string]bool) (left string, dropped []string) {
	all := paragraphs(body)
	list, sentences := make([]item, len(all)), make([][]string, len(all))
	for i, p := range all {
		list[i] = item{key: sentenceKey(plain(p.text)), heading: p.heading, again: p.prose}
		for _, s := range statementsIn(body, p, false) {
			list[i].again = list[i].again && said[s.key()] && !tooShort(s.key())
			sentences[i] = append(sentences[i], s.text)
		}
	}
	var out []string
	for i, gone := range spare(list) {
		if gone {
			dropped = append(dropped, sentences[i]...)
		} else {
			out = append(out, all[i].text)
		}
	}
	if left = tidy(strings.Join(out, "\n\n")); len(dropped) > 0 && left != "" {
		return left, dropped
	}
	return body, nil
}

// withoutLoops removes sentences that repeat an earlier one of the same text (see spare) and returns them. Weak models
// produce such loops.
func withoutLoops(body string) (left string, dropped []string) {
	said := map[string]bool{}
	var list []item
	var statements []statement
	for _, p := range paragraphs(body) {
		if !p.prose { // a list may depend on the sentence that introduces it
			list, statements = append(list, item{heading: p.heading}), append(statements, statement{})
			continue
		}
		for _, s := range statementsIn(body, p, false) {
			key := s.key()
			list, statements = append(list, item{key: key, again: said[key] && !tooShort(key)}), append(statements, s)
			said[key] = true
		}
	}
	left = body
	for i, gone := range slices.Backward(spare(list)) {
		if gone {
			left, dropped = statements[i].withText(left, ""), append(dropped, statements[i].text)
		}
	}
	slices.Reverse(dropped)
	if left = tidy(left); len(dropped) > 0 && left != "" {
		return left, dropped
	}
	return body, nil
}

// uncited counts the sentences of a text without a marker.
func uncited(body string) (n int) {
	for _, p := range paragraphs(body) {
		for _, s := range statementsIn(body, p, false) {
			if p.prose && len(s.ids) == 0 {
				n++
			}
		}
	}
	return n
}
