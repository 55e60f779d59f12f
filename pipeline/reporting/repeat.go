package reporting

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/text"
)

// markersAhead matches markers at the start of what follows a full stop: they belong to the sentence before it.
var markersAhead = regexp.MustCompile(`^\s*(?:\[(?:CIT-\d+-\d+|PLAN-\d+)\])+`)

var anyMarker = regexp.MustCompile(`\s*\[(?:CIT-\d+-\d+|PLAN-\d+)\]`)

// sentence is a sentence of a written paragraph, with the markers that follow it.
type sentence struct {
	start, end int
	text       string // without markers
	key        string // equal for sentences of the same words
	cited      bool
}

// sentencesOf returns the sentences of a paragraph of prose.
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
		bare := fold(anyMarker.ReplaceAllString(whole, ""))
		found = append(found, sentence{start: start, end: end, text: bare, key: sentenceKey(bare), cited: anyMarker.MatchString(whole)})
	}
	return found
}

// sentenceKey is equal for sentences of the same words, whatever their case, white space and marks.
func sentenceKey(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !isWord(r) }), " ")
}

// minRepeatWords is the number of words below which sentences are equal by chance.
const minRepeatWords = 5

func tooShort(key string) bool { return countWords(key) < minRepeatWords }

// dropRepeated removes the paragraphs of which every sentence stands in an earlier section word for word; of a section that
// is kept from the last report, nothing. A section that would be empty without them stays as it is.
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

// withoutParagraphs removes the paragraphs of a text that say nothing new, and returns their sentences: none when nothing
// would be left.
func withoutParagraphs(body string, said map[string]bool) (left string, dropped []string) {
	var out []string
	for _, p := range paragraphs(body) {
		sentences := sentencesOf(p.text)
		fresh := !p.prose || slices.ContainsFunc(sentences, func(s sentence) bool { return !said[s.key] || tooShort(s.key) })
		if fresh {
			out = append(out, p.text)
			continue
		}
		for _, s := range sentences {
			dropped = append(dropped, s.text)
		}
	}
	if left = tidy(strings.Join(out, "\n\n")); len(dropped) > 0 && left != "" {
		return left, dropped
	}
	return body, nil
}

// withoutLoops removes from one text the sentences that stand in it before, word for word: weak models go round in circles.
// It returns what it removed.
func withoutLoops(body string) (left string, dropped []string) {
	said := map[string]bool{}
	var out []string
	for _, p := range paragraphs(body) {
		if !p.prose {
			out = append(out, p.text)
			continue
		}
		kept := p.text
		var again []sentence
		for _, s := range sentencesOf(p.text) {
			if said[s.key] && !tooShort(s.key) {
				again = append(again, s)
			}
			said[s.key] = true
		}
		for _, s := range slices.Backward(again) {
			kept = without(kept, s)
		}
		for _, s := range again {
			dropped = append(dropped, s.text)
		}
		if kept = strings.TrimSpace(kept); anyMarker.ReplaceAllString(kept, "") != "" { // else it cites for what is gone
			out = append(out, kept)
		}
	}
	if left = tidy(strings.Join(out, "\n\n")); len(dropped) > 0 && left != "" {
		return left, dropped
	}
	return body, nil
}

// without cuts a sentence out and leaves one space where there was any.
func without(text string, s sentence) string {
	before, after := strings.TrimRight(text[:s.start], " \n"), strings.TrimLeft(text[s.end:], " \n")
	spaced := len(before)+len(after) < s.start+len(text)-s.end || strings.HasPrefix(text[s.start:], " ")
	if spaced && before != "" && after != "" {
		return before + " " + after
	}
	return before + after
}

// uncited counts the sentences of written text that no marker follows.
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
	prose bool // no heading, list, table, quotation or code
}

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
