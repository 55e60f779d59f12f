package reporting

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
)

// markersAhead matches markers at the start of what follows a full stop: they belong to the sentence before it.
var markersAhead = regexp.MustCompile(`^\s*(?:\[(?:CIT-\d+-\d+|PLAN-\d+)\])+`)

var anyMarker = regexp.MustCompile(`\s*\[(?:CIT-\d+-\d+|PLAN-\d+)\]`)

// sentence is a sentence of a written paragraph, with the markers that follow it.
type sentence struct {
	start, end int
	text       string // without markers
	cited      bool
}

// sentencesOf returns the complete sentences of a paragraph of prose.
func sentencesOf(paragraph string) []sentence {
	var found []sentence
	for _, s := range extractive.Sentences(paragraph) {
		start, end := s.Start, s.End
		start += len(markersAhead.FindString(paragraph[start:]))
		end += len(markersAhead.FindString(paragraph[end:]))
		if start >= end || !s.Complete && start == s.Start {
			continue
		}
		whole := paragraph[start:end]
		found = append(found, sentence{start: start, end: end, text: fold(anyMarker.ReplaceAllString(whole, "")), cited: anyMarker.MatchString(whole)})
	}
	return found
}

// minRepeatWords is the number of content words below which sentences are alike by chance.
const minRepeatWords = 5

// dropRepeated removes sentences that say nearly word for word what an earlier section, or the same one, says already; of a
// section that is kept, nothing. It returns how many. A section that would be empty without them stays as it is.
func dropRepeated(sections []section) int {
	var seen extractive.Seen
	for _, s := range sections {
		if s.past != nil {
			withoutRepeats(s.body, &seen)
		}
	}
	dropped := 0
	for i := range sections {
		if sections[i].past != nil {
			continue
		}
		body, n := withoutRepeats(sections[i].body, &seen)
		sections[i].body = body
		dropped += n
	}
	return dropped
}

// withoutRepeats removes the sentences of a text that have been seen, takes the others into seen, and returns how many
// it removed: none when nothing would be left.
func withoutRepeats(body string, seen *extractive.Seen) (string, int) {
	var out []string
	n := 0
	for _, p := range paragraphs(body) {
		if !p.prose {
			out = append(out, p.text)
			continue
		}
		text := p.text
		for _, s := range slices.Backward(repeats(p.text, seen)) {
			text = without(text, s)
			n++
		}
		if text = strings.TrimSpace(text); anyMarker.ReplaceAllString(text, "") != "" { // else it cites for what is gone
			out = append(out, text)
		}
	}
	if left := tidy(strings.Join(out, "\n\n")); n > 0 && left != "" {
		return left, n
	}
	return body, 0
}

// repeats returns the sentences of a paragraph that have been seen, and takes the others into seen.
func repeats(text string, seen *extractive.Seen) []sentence {
	var found []sentence
	for _, s := range sentencesOf(text) {
		if len(extractive.Terms(s.text)) >= minRepeatWords && !seen.Add(s.text) {
			found = append(found, s)
		}
	}
	return found
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
		if text := strings.Join(lines, "\n"); strings.TrimSpace(text) != "" {
			found = append(found, paragraph{text: strings.Trim(text, "\n"), prose: !code && !notProse.MatchString(text)})
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
