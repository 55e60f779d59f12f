package researching

import (
	"fmt"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/topicqueue"
)

// The extractive form of the loop: what a block does when there is no model, or when one fails.
const (
	claimsPerCall = 6  // of extracted claims: as many as a paragraph of the report carries
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

// subject is what an extracted sentence must bear on: title and topic, the topic as a heading when it is a brief.
func (w *work) subject() string {
	topic := w.topic
	if len(topic) > maxLine {
		topic = extractive.Title(topic)
	}
	return strings.TrimSpace(w.block.Title + " " + topic)
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

// extract chooses sentences of the pieces as claims that are their own quotes. Pieces off the subject yield none.
func (w *work) extract(sources []topicqueue.Source, pieces []piece) []finding {
	subject := w.subject()
	floor := enough(subject)
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		s := sources[p.source]
		// What the headings say need not be said again in the text below them.
		if about := s.Title + ". " + strings.Join(s.Section, ". ") + ".\n\n" + p.text; extractive.Relevance(about, subject) >= floor {
			texts[i] = p.text
		}
	}
	var found []finding
	for _, r := range extractive.Rank(texts, subject, claimsPerCall) {
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
	return oneLine(strings.Join(parts, ", "))
}
