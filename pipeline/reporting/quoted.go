package reporting

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/extractive"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const (
	// sectionQuotes bounds a section of an extractive report: quotes of up to three sentences, some 600 words.
	sectionQuotes = 18
	// weakShare is the share of a section's best relevance below which a quote is only filling.
	weakShare = 0.3
	// A section keeps this many quotes whatever their relevance, and more of passages that it quotes several times:
	// research has chosen them once already.
	enoughQuotes, enoughTogether = 4, 10
	// cohesion is added to a quote's relevance for each further quote of the same passage that its subject has, up to
	// four: of equally fitting subjects it stands with the one that tells the rest of the story.
	cohesion = 0.04
	// homeRelevance is added to what stands in the section that a subject was planned from.
	homeRelevance = 0.35
	homeQuotes    = 12 // of that section
	fewAtHome     = 5  // below which quotes of other sections are shown beside them
	awayQuotes    = 4  // of other sections
	enoughHome    = 2  // quotes of its own that let a subject do without single ones of others
)

// quote is a claim chosen for an extractive report.
type quote struct {
	claim
	subject   int     // index of the subject that shows it
	relevance float64 // to the subject, 0 to 1
	together  bool    // the subject has other quotes of the same passage
	opens     bool    // stands in the short answer
}

// quoted puts the report together from verbatim quotes, without a model.
func (w *writer) quoted(ctx context.Context) (Report, error) {
	if w.template == nil {
		apart(w.subjects)
	}
	quotes := w.choose()
	d := draft{extractive: true}
	outline := prompts.OutlineAnswer{Title: w.title}
	if w.template != nil {
		outline = w.templated()
	}
	var shown []claim
	var opening []string
	for _, i := range w.shortAnswer(quotes) {
		quotes[i].opens = true
		shown = append(shown, quotes[i].claim)
		opening = append(opening, "- "+cite(quotes[i].claim, claim.quote))
	}
	if len(opening) > 0 {
		d.sections = append(d.sections, section{title: w.words.shortAnswer, body: strings.Join(opening, "\n"), short: true})
	}
	for i, s := range w.subjects {
		var claims []claim
		for _, q := range quotes {
			if q.subject == i && !q.opens {
				claims = append(claims, q.claim)
			}
		}
		if w.template == nil {
			outline.Sections = append(outline.Sections, prompts.OutlineSection{Title: s.title, BlockIDs: []string{s.id}, Subsections: []prompts.OutlineSubsection{}})
		}
		if len(claims) == 0 && w.template != nil {
			continue
		}
		if len(claims) == 0 {
			w.gaps = append(w.gaps, Gap{BlockID: s.id, Title: s.title, Reason: w.words.repeated})
			continue
		}
		shown = append(shown, claims...)
		d.sections = append(d.sections, section{title: s.title, body: w.words.proseOf(s, claims, claim.quote), claims: claims})
	}
	d.sections = w.withEmpty(d.sections)
	w.stats.ClaimsLeftOut = w.stats.Claims - len(shown)
	d.quotes = len(shown)
	cited := citations(shown)
	if s, ids := w.disagreementSection(); len(ids) > 0 {
		d.sections = append(d.sections, s)
		d.quotes += strings.Count(s.body, "\n") + 1 // a line each
		cited = append(cited, ids...)
	}
	d.opening = passage{body: w.words.quoted(d.quotes, w.citedDocuments(cited))}
	if missing := w.unspoken(shown); len(missing) > 0 {
		d.opening.body += w.words.unspoken(missing, d.quotes)
	}
	return w.finish(ctx, outline, d)
}

// maxUnspoken bounds the words of the topic that a report says it has nothing on.
const maxUnspoken = 4

// unspoken returns the words of the topic that neither a quote nor the headings above it have.
func (w *writer) unspoken(shown []claim) []string {
	topic := w.run.Topic
	if len([]rune(topic)) > longTopic {
		topic = w.title
	}
	texts := make([]string, len(shown))
	for i, c := range shown {
		texts[i] = strings.Join(append([]string{c.quote(), c.source.Title, c.source.Document, c.source.URL}, c.source.Section...), ".\n\n")
	}
	return extractive.Unspoken(topic, texts, maxUnspoken)
}

// choose returns the quotes that the report may show, by subject and most relevant first. No two in the whole report
// say the same, and no subject shows more than reads well.
func (w *writer) choose() []quote {
	kept := w.distinct(w.candidates())
	slices.SortStableFunc(kept, func(a, b quote) int {
		return cmp.Or(cmp.Compare(a.subject, b.subject), cmp.Compare(rank(a.home), rank(b.home)), cmp.Compare(b.relevance, a.relevance))
	})
	var chosen []quote
	n, home, best := 0, 0, 0.0 // of the subject at hand
	for i, q := range kept {
		if i == 0 || q.subject != kept[i-1].subject {
			n, home, best = 0, 0, q.relevance
		}
		if w.subjects[q.subject].hasHome() {
			switch {
			case q.home && home < homeQuotes:
				home++
				chosen = append(chosen, q)
			case !q.home && q.together && home < fewAtHome && n < awayQuotes:
				n++
				chosen = append(chosen, q)
			}
			continue
		}
		enough := enoughQuotes
		if q.together {
			enough = enoughTogether
		}
		if n < enough || n < sectionQuotes && q.relevance >= weakShare*best {
			chosen = append(chosen, q)
			n++
		}
	}
	return w.withoutStrays(chosen)
}

// withoutStrays drops single quotes of other sections from subjects that have enough of their own: nothing stands beside
// them that says what they are about.
func (w *writer) withoutStrays(chosen []quote) []quote {
	home, at := map[int]int{}, map[string]int{}
	place := func(q quote) string {
		return fmt.Sprint(q.subject, topicqueue.Place(q.document(), q.source.Section))
	}
	for _, q := range chosen {
		if q.home {
			home[q.subject]++
		}
		at[place(q)]++
	}
	return slices.DeleteFunc(chosen, func(q quote) bool {
		return !q.home && home[q.subject] >= enoughHome && at[place(q)] == 1
	})
}

// rank is 0 for what comes first.
func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// candidates returns all claims with their relevance to the subject and, less so, to the topic, most relevant first.
func (w *writer) candidates() []quote {
	var all []quote
	for i, s := range w.subjects {
		together := map[string]int{}
		for _, c := range s.claims {
			together[citation.Place(c.source)]++
		}
		for _, c := range s.claims {
			others := min(together[citation.Place(c.source)]-1, 4)
			relevance := 0.7*extractive.Relevance(c.quote(), s.title) + 0.3*extractive.Relevance(c.quote(), w.title)
			if c.home {
				relevance += homeRelevance
			}
			all = append(all, quote{claim: c, subject: i, relevance: relevance + cohesion*float64(others), together: others > 0})
		}
	}
	slices.SortStableFunc(all, func(a, b quote) int { return cmp.Compare(b.relevance, a.relevance) })
	return all
}

// distinct drops quotes that repeat an earlier one. As the most relevant come first, a quote that several subjects found
// stays with the one that it fits best; a subject that would lose all of its quotes gets one back from a subject that
// can spare it.
func (w *writer) distinct(all []quote) []quote {
	var seen extractive.Seen
	var kept []quote
	var holder []int // holder[i] is the index in kept of the i-th sentence that seen took in
	left := make([]int, len(w.subjects))
	for _, q := range all {
		sentences := partsOf(q.quote())
		if slices.ContainsFunc(sentences, func(s string) bool { return seen.Find(s) >= 0 }) {
			continue
		}
		for _, s := range sentences {
			if seen.Add(s) {
				holder = append(holder, len(kept))
			}
		}
		kept = append(kept, q)
		left[q.subject]++
	}
	for _, q := range all {
		if left[q.subject] > 0 {
			continue
		}
		for _, s := range partsOf(q.quote()) {
			if at := seen.Find(s); at >= 0 && left[kept[holder[at]].subject] > 2 {
				from := &kept[holder[at]]
				left[from.subject]--
				from.subject = q.subject
				if from.quote() == q.quote() {
					from.claim = q.claim
				}
				left[q.subject]++
				break
			}
		}
	}
	return kept
}

// partsOf returns the sentences of a quote: one that repeats any of them repeats.
func partsOf(quote string) []string {
	var parts []string
	for _, s := range extractive.Sentences(quote) {
		parts = append(parts, s.Text)
	}
	if len(parts) == 0 {
		return []string{quote}
	}
	return parts
}
