package researching

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/topicqueue"
)

// What a note keeps besides the claims of its model, and how much of what it does not keep is told. A model that gave as
// many claims as it was asked for has chosen, not lost.
const (
	choice      = 15   // claims of one answer; the prompt asks for at most about as many
	maxKept     = 6    // sentences of one note that are kept in their own words
	maxLost     = 8    // sentences that a trace lists
	maxLostLine = 120  // bytes of the facts and of the sentence of each
	wordsOfFact = 5    // that a sentence has at least: not a heading, a date line or an entry of a menu
	bearsAlone  = 0.2  // relevance of a sentence that bears on the block
	bearsWithin = 0.35 // of a paragraph whose sentences do
)

// gap is a sentence of a source that bears on the block, with the facts in it: numbers, dates, and names with digits.
type gap struct {
	source, start, end int
	facts              []string
	chosen             bool    // by a model that had to choose
	relevance          float64 // of those that are to be kept
}

// expect notes the facts of a chunk that claims should have. claims: how many the model gave.
func (t *noteTaker) expect(chunk []piece, claims int) {
	about := t.block.Title + " " + t.outcome.query
	for _, p := range chunk {
		sentences := extractive.Sentences(p.text)
		for len(sentences) > 0 {
			n := 1
			for n < len(sentences) && sentences[n].Paragraph == sentences[0].Paragraph {
				n++
			}
			paragraph := sentences[:n]
			sentences = sentences[n:]
			whole := p.text[paragraph[0].Start:paragraph[n-1].End]
			if !strings.ContainsAny(whole, "0123456789") {
				continue
			}
			bears := extractive.Relevance(whole, about) >= bearsWithin
			for _, s := range paragraph {
				facts := factsOf(s.Text)
				if len(facts) > 0 && quoteWords(s.Text) >= wordsOfFact && (bears || extractive.Relevance(s.Text, about) >= bearsAlone) {
					t.facts = append(t.facts, gap{source: p.source, start: p.at + s.Start, end: p.at + s.End, facts: facts, chosen: claims >= choice})
				}
			}
		}
	}
}

// lost returns the sentences that have facts which no claim has, and those facts.
func (t *noteTaker) lost() []gap {
	has := map[string]bool{}
	for _, f := range t.note.found {
		for _, fact := range factsOf(f.text + "\n" + t.outcome.fresh[f.source].Text[f.start:f.end]) {
			has[fact] = true
		}
	}
	var gaps []gap
	for _, g := range t.facts {
		g.facts = slices.DeleteFunc(slices.Clone(g.facts), func(fact string) bool { return has[fact] })
		if len(g.facts) > 0 {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// keepLost keeps what the model has passed over although it bears on the block: the sentences become claims in their own
// words, those that bear most on it first, which costs no further question. What is not kept is listed.
func (t *noteTaker) keepLost() {
	if len(t.note.found) == 0 { // the model says that nothing bears on the block
		return
	}
	text := func(g gap) string { return t.outcome.fresh[g.source].Text[g.start:g.end] }
	about := t.block.Title + " " + t.outcome.query
	beside := t.beside(about)
	gaps := slices.DeleteFunc(t.lost(), func(g gap) bool { return g.chosen || g.end-g.start > maxClaim || beside[g.source] })
	for i, g := range gaps {
		gaps[i].relevance = extractive.Relevance(text(g), about)
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(b.relevance, a.relevance) })
	kept := gaps[:min(maxKept, len(gaps))]
	slices.SortFunc(kept, func(a, b gap) int { return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.start, b.start)) })
	for _, g := range kept {
		t.note.found = append(t.note.found, finding{source: g.source, text: topicqueue.OneLine(text(g)), start: g.start, end: g.end, kept: true})
	}
	t.note.lost = map[int][]string{}
	for _, g := range t.lost() {
		line := topicqueue.Clip(strings.Join(g.facts, ", "), maxLostLine) + ": " + topicqueue.Clip(topicqueue.OneLine(text(g)), maxLostLine)
		if list := t.note.lost[g.source]; len(list) < maxLost && !slices.Contains(list, line) {
			t.note.lost[g.source] = append(list, line)
		}
	}
}

// beside returns the sources that are about something else, the like of another place: the model has taken nothing of them, and they speak
// less of the block than those of which it has.
func (t *noteTaker) beside(about string) map[int]bool {
	taken := map[int]bool{}
	for _, f := range t.note.found {
		taken[f.source] = true
	}
	speaks, most := make([]float64, len(t.outcome.fresh)), 0.0
	for i, s := range t.outcome.fresh {
		if speaks[i] = extractive.Relevance(s.Title+"\n"+s.Text, about); taken[i] {
			most = max(most, speaks[i])
		}
	}
	beside := map[int]bool{}
	for i := range speaks {
		beside[i] = !taken[i] && speaks[i] < nearly*most
	}
	return beside
}

// fact is a word with a digit in it, and what belongs to it: 1,000.5, 2026-05-01, 10:30, QX-4417.
var fact = regexp.MustCompile(`[\p{L}\p{N}]+(?:[.,:/\-–][\p{L}\p{N}]+)*`)

// factsOf returns the facts of a text, each once, in lower case and without the commas of thousands. A single digit is
// none: lists and notes are numbered so.
func factsOf(text string) []string {
	var facts []string
	apart := strings.Map(func(r rune) rune { // 潮差为6.1米
		if wideScript(r) {
			return ' '
		}
		return r
	}, text)
	for _, word := range fact.FindAllString(apart, -1) {
		word = strings.ReplaceAll(strings.ToLower(word), ",", "")
		if len(word) > 1 && strings.ContainsAny(word, "0123456789") && !slices.Contains(facts, word) {
			facts = append(facts, word)
		}
	}
	return facts
}
