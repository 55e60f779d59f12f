package reporting

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/text"
)

// markersAhead matches markers that follow a full stop and belong to the preceding sentence.
var markersAhead = regexp.MustCompile(`^\s*(?:\[(?:CIT-\d+-\d+|PLAN-\d+)\])+`)

var anyMarker = regexp.MustCompile(`\s*\[(?:CIT-\d+-\d+|PLAN-\d+)\]`)

// sentence is a sentence of a written paragraph, with the markers after it.
type sentence struct {
	start, end int
	text       string // without markers
	key        string // equal for sentences with the same words
	cited      bool
}

// sentencesOf splits a paragraph of prose into sentences.
func sentencesOf(paragraph string) []sentence {
	var found []sentence
	for _, s := range text.Sentences(paragraph) {
		start, end := s.Start, s.End
		start += len(markersAhead.FindString(paragraph[start:]))
		end += len(markersAhead.FindString(paragraph[end:]))
		if start >= end {
			continue
		}
		whole := paragraph[start:end]
		bare := text.Line(anyMarker.ReplaceAllString(whole, ""))
		found = append(found, sentence{start: start, end: end, text: bare, key: sentenceKey(bare), cited: anyMarker.MatchString(whole)})
	}
	return found
}

// sentenceKey normalizes a sentence to its words: it ignores case, white space and punctuation.
func sentenceKey(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !isWord(r) }), " ")
}

// minRepeatWords is the minimum length of a repetition, in words. Shorter sentences may be equal by chance.
const minRepeatWords = 5

func tooShort(key string) bool { return countWords(key) < minRepeatWords }

// dropRepeated removes paragraphs whose sentences all appear in another section, if nothing can refer back to them (see
// spare). Sections kept from the last report are not changed. A section that would become empty stays as it is.
func dropRepeated(sections []section) {
	said := map[string]bool{}
	note := func(body string) {
		for _, p := range paragraphs(body) {
			for _, s := range sentencesOf(p.text) {
				said[s.key] = true
			}
		}
	}
	for _, s := range sections {
		if s.past != nil {
			note(s.body)
		}
	}
	for i := range sections {
		if s := &sections[i]; s.past == nil {
			body, dropped := withoutParagraphs(s.body, said)
			s.body, s.repeated = body, append(s.repeated, dropped...)
			note(s.body)
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
	list := make([]item, len(all))
	for i, p := range all {
		list[i] = item{key: sentenceKey(anyMarker.ReplaceAllString(p.text, "")), heading: p.heading()}
		list[i].again = p.prose && !slices.ContainsFunc(sentencesOf(p.text), func(s sentence) bool {
			return !said[s.key] || tooShort(s.key)
		})
	}
	var out []string
	for i, gone := range spare(list) {
		if !gone {
			out = append(out, all[i].text)
			continue
		}
		for _, s := range sentencesOf(all[i].text) {
			dropped = append(dropped, s.text)
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
	type place struct {
		paragraph int
		sentence
	}
	all, said := paragraphs(body), map[string]bool{}
	var list []item
	var places []place
	for i, p := range all {
		if !p.prose { // a list may depend on the sentence that introduces it
			list, places = append(list, item{heading: p.heading()}), append(places, place{paragraph: i})
			continue
		}
		for _, s := range sentencesOf(p.text) {
			list = append(list, item{key: s.key, again: said[s.key] && !tooShort(s.key)})
			places = append(places, place{i, s})
			said[s.key] = true
		}
	}
	gone := spare(list)
	for n, at := range slices.Backward(places) {
		if gone[n] {
			all[at.paragraph].text = without(all[at.paragraph].text, at.sentence)
			dropped = append(dropped, at.text)
		}
	}
	slices.Reverse(dropped)
	var out []string
	for _, p := range all {
		if p.text = strings.TrimSpace(p.text); !p.prose || anyMarker.ReplaceAllString(p.text, "") != "" { // else only markers are left
			out = append(out, p.text)
		}
	}
	if left = tidy(strings.Join(out, "\n\n")); len(dropped) > 0 && left != "" {
		return left, dropped
	}
	return body, nil
}

// without removes a sentence and leaves at most one space in its place.
func without(text string, s sentence) string {
	before, after := strings.TrimRight(text[:s.start], " \n"), strings.TrimLeft(text[s.end:], " \n")
	spaced := len(before)+len(after) < s.start+len(text)-s.end || strings.HasPrefix(text[s.start:], " ")
	if spaced && before != "" && after != "" {
		return before + " " + after
	}
	return before + after
}

// uncited counts the sentences of a text without a marker.
func uncited(body string) int {
	n := 0
	for _, p := range paragraphs(body) {
		if p.prose {
			for _, s := range sentencesOf(p.text) {
				if !s.cited {
					n++
				}
			}
		}
	}
	return n
}

// paragraph is a part of Markdown between blank lines.
type paragraph struct {
	text  string
	prose bool // not a heading, list, table, quotation or code
}

func (p paragraph) heading() bool { return !p.prose && strings.HasPrefix(p.text, "#") }

var notProse = regexp.MustCompile(`^\s*(?:[-*+>|#]|\d{1,3}[.)]\s)|\n\s*[|]|\n\s*(?:[-*+]|\d{1,3}[.)])\s`)

func paragraphs(body string) []paragraph {
	var found []paragraph
	var lines []string
	code := false
	flush := func() {
		if body := strings.Join(lines, "\n"); strings.TrimSpace(body) != "" {
			found = append(found, paragraph{text: strings.Trim(body, "\n"), prose: !code && !notProse.MatchString(body)})
		}
		lines, code = nil, false
	}
	for _, l := range markdownLines(body) {
		switch {
		case l.code && !code, !l.code && code, l.level > 0, !l.code && strings.TrimSpace(l.text) == "":
			flush()
		}
		lines, code = append(lines, l.text), l.code
		if l.level > 0 {
			flush()
		}
	}
	flush()
	return found
}
