package support

import (
	"slices"
	"strings"
)

// missingQuote returns a quotation that no source has.
func (s *statement) missingQuote(texts []*text) string {
	for _, quote := range s.quotes {
		found := false
		for _, t := range texts {
			found = found || t.folded.find(quote, 0) >= 0 || strings.Contains(t.about, quote)
		}
		if !found {
			return quote
		}
	}
	return ""
}

// verbatim returns where the whole sentence stands in a source, with what it begins with or without. denied: it does so only
// as part of one that denies it.
func (s *statement) verbatim(texts []*text) (t *text, start, end int, denied bool) {
	if t, start, end, denied = verbatim(s.folded, texts); t != nil {
		return t, start, end, false
	}
	if at := s.leadIn(); at > 0 {
		t, start, end, also := verbatim(foldText(s.text[at:]).text, texts)
		return t, start, end, denied || also
	}
	return nil, 0, 0, denied
}

func verbatim(needle string, texts []*text) (t *text, start, end int, denied bool) {
	needle = strings.TrimSpace(strings.TrimRight(needle, ".!?。！？:; "))
	if len(needle) < 8 {
		return nil, 0, 0, false
	}
	for _, t := range texts {
		for from, tries := 0, 0; tries < 5; tries++ {
			i := t.folded.find(needle, from)
			if i < 0 {
				break
			}
			start, end := t.folded.original(i, i+len(needle), len(t.Text))
			if !t.deniedBefore(start) {
				return t, start, end, false
			}
			denied = true
			from = i + 1
		}
	}
	return nil, 0, 0, denied
}

// leadingIn are words that name no fact, before the comma that a report begins a sentence with.
var leadingIn = set(`according noted also overall additionally furthermore moreover finally likewise similarly specifically notably indeed meanwhile again
	however besides laut demnach zudem außerdem ferner insgesamt`)

// leadIn returns where a sentence begins behind words such as "According to the report,"; 0 when it has none.
func (s *statement) leadIn() int {
	for i, w := range s.words[:min(len(s.words), 7)] {
		if i > 0 && strings.HasPrefix(s.text[s.words[i-1].end:], ", ") {
			return w.start
		}
		if w.number() || denials[w.low] || w.term() != "" && !leadingIn[w.low] && !telling[w.low] && !saying[w.low] {
			return 0
		}
	}
	return 0
}

// restStands reports that a source has the sentence word for word but for a few words up to a comma, which turn nothing: what
// is said of what cannot be wrong there.
func (s *statement) restStands(texts []*text) bool {
	for i, w := range s.words[:min(len(s.words), 7)] {
		if i > 0 && strings.HasPrefix(s.text[s.words[i-1].end:], ", ") {
			needle := strings.TrimSpace(strings.TrimRight(foldText(s.text[w.start:]).text, ".!?。！？:; "))
			return len(needle) > 30 && slices.ContainsFunc(texts, func(t *text) bool { return t.folded.find(needle, 0) >= 0 })
		}
		if w.number() || denials[w.low] || len(polesAt(s.words, i)) > 0 || w.capital() && (i > 0 || slices.ContainsFunc(texts, func(t *text) bool { return t.isName(w.term()) })) {
			return false
		}
	}
	return false
}

// denials turn what follows them in the same sentence into its opposite, or into something else than a statement.
var denials = set(`not no never deny denies denied false untrue wrong incorrect myth unless if whether without neither nor contrary doubt doubts doubted
	dispute disputes disputed reject rejects rejected nicht kein keine ob falls dementiert`)

// deniedBefore reports that the sentence around byte at begins, before it, with something that denies what follows.
func (t *text) deniedBefore(at int) bool {
	i, _ := slices.BinarySearchFunc(t.words, at, func(w word, at int) int { return w.start - at })
	for i--; i >= 0; i-- {
		w := t.words[i]
		between := t.Text[min(w.end, at):at]
		if at-w.end > 200 || strings.ContainsAny(between, ".!?;。！？；") || strings.Contains(between, "\n\n") || strings.Contains(between, "\n") && t.words[i+1].capital() {
			return false
		}
		if denials[w.low] || strings.HasSuffix(w.low, "n't") {
			return true
		}
	}
	return false
}
