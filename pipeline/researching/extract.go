package researching

import (
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/topicqueue"
)

// The extractive form of the loop: what a block does when there is no model, or when one fails.
const (
	claimsPerCall = 6  // of extracted claims: as many as a paragraph of the report carries
	claimsAtHome  = 16 // of the section that the block was planned from, read as a whole
	enoughClaims  = 24 // from which a flexible block stops without a model: more than a section of a report holds
)

// decideExtractively plans the next calls from the plan and from what was found. In flexible mode the evidence
// suffices when there is plenty of it, or when the last iteration has added nothing to it.
func (w *work) decideExtractively(k int) decision {
	w.feedback = nil
	d := decision{
		sufficient: w.claims >= enoughClaims || w.claims > 0 && k > 1 && w.lastClaims == 0,
		calls:      w.plannedCalls(k, w.phase(k)),
	}
	if len(d.calls) == 0 {
		d.sufficient = true
	}
	d.thought = fmt.Sprintf("%d statements so far.", w.claims)
	return d
}

// subject is what an extracted sentence must bear on: title and topic, the topic as a heading when it is a brief. Where
// the plan took the block from the structure of the corpus, it has left only those words of the topic in its starter
// queries that tell something there.
func (w *work) subject() string {
	if len(w.homes()) > 0 {
		for _, q := range w.block.Queries {
			if !topicqueue.IsPlace(q) {
				return q
			}
		}
	}
	topic := w.topic
	if len(topic) > maxLine {
		topic = extractive.Title(topic)
	}
	return strings.TrimSpace(w.block.Title + " " + topic)
}

// told are the words of the topic that the subject has: those that tell something.
func (w *work) told(subject string) string {
	known := map[string]bool{}
	for _, term := range extractive.Terms(subject) {
		known[term] = true
	}
	var words []string
	for word := range strings.FieldsSeq(w.topic) {
		if slices.ContainsFunc(extractive.Terms(word), func(t string) bool { return known[t] }) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// homes are the places of the corpus that the block was planned from.
func (w *work) homes() []string {
	var homes []string
	for _, q := range w.block.Queries {
		if topicqueue.IsPlace(q) {
			homes = append(homes, q)
		}
	}
	return homes
}

// within reports whether a source stands at one of these places or below it.
func within(s topicqueue.Source, places []string) bool {
	at := topicqueue.Place(s.Title, s.Section)
	return slices.ContainsFunc(places, func(p string) bool { return topicqueue.Within(at, p) })
}

// elsewhere reports a source that stands in a section that another block of the run is called after: it is told there.
func (w *work) elsewhere(s topicqueue.Source) bool {
	if len(s.Section) == 0 || slices.Contains(w.homes(), topicqueue.Place(s.Title, s.Section)) {
		return false
	}
	heading := extractive.Heading(s.Section[len(s.Section)-1])
	return slices.ContainsFunc(w.view.Blocks, func(b topicqueue.BlockTitle) bool {
		return b.ID != w.block.ID && strings.EqualFold(b.Title, heading)
	})
}

// enough is how much of the subject a source must speak of to be evidence: half of a short one, less of a long one,
// of which no passage says all. Sharing one word is not enough: trailing blanks are no hiking trails.
func enough(subject string) float64 {
	words := map[string]bool{}
	for _, term := range extractive.Terms(subject) {
		words[term] = true
	}
	return max(0.3, min(0.5, 2.5/float64(max(1, len(words)))))
}

// enoughTold is how much of the topic the title and headings of a source from elsewhere must have for it to stand
// beside the section that a block was planned from.
const enoughTold = 0.5

// extract chooses sentences of the pieces as claims that are their own quotes: the gist of what stands at the place
// that the block was planned from, and of other sources what bears on the subject. Pieces off the subject yield none.
func (w *work) extract(sources []topicqueue.Source, pieces []piece) []finding {
	subject, homes := w.subject(), w.homes()
	told := ""
	if len(homes) > 0 {
		told = w.told(subject)
	}
	floor := enough(subject)
	home, others := make([]string, len(pieces)), make([]string, len(pieces))
	for i, p := range pieces {
		s := sources[p.source]
		if within(s, homes) {
			if !w.elsewhere(s) {
				home[i] = p.text
			}
			continue
		}
		// What the headings say need not be said again in the text below them.
		headings := s.Title + ". " + strings.Join(s.Section, ". ") + ".\n\n"
		if len(homes) > 0 && (w.elsewhere(s) || extractive.Relevance(headings, told) < enoughTold) {
			continue
		}
		if extractive.Relevance(headings+p.text, subject) >= floor {
			others[i] = p.text
		}
	}
	var found []finding
	for _, r := range append(extractive.Gist(home, subject, claimsAtHome), extractive.Rank(others, subject, claimsPerCall)...) {
		p := pieces[r.Passage]
		found = append(found, finding{source: p.source, text: r.Text, start: p.at + r.Start, end: p.at + r.End})
	}
	return found
}

// place says where a source stands, for a person: title and section, page or address.
func place(s topicqueue.Source) string {
	parts := []string{s.Title}
	if n := len(s.Section); n > 0 && s.Section[n-1] != s.Title {
		parts = append(parts, s.Section[n-1])
	}
	if s.Page > 0 {
		parts = append(parts, fmt.Sprintf("p. %d", s.Page))
	}
	if s.Title == "" {
		parts[0] = s.Document + s.URL
	}
	return topicqueue.OneLine(strings.Join(parts, ", "))
}
