package reporting

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Constants of a report without a model.
const (
	// maxBetween is the maximum distance between two claims of an excerpt, in bytes.
	maxBetween = 8
	// variety weighs relevance against similarity to excerpts already chosen. It is lambda of maximal marginal
	// relevance; Carbonell and Goldstein 1998 recommend 0.7 for a few best answers.
	variety = 0.7
	// further is the factor on the scores (BM25 for the topic, relative to the best) of passages from blocks after the
	// first, whose sections answered the topic less well.
	further = 0.8
	// enoughShare is the minimum share of the best passage's score for a passage to be shown, as in the search of a
	// block (package researching).
	enoughShare = 0.6
	// defaultWords is the report length of older runs whose preset is not in olderWords.
	defaultWords = 900
)

// olderWords is the report length by preset for runs from before Options.QuotedWords, so that writing such a report
// again has the same result. A new preset needs no entry.
var olderWords = map[string]int{"shallow": 300, "quick": 300, "deep": 1800, "auto": 1800}

// excerpt is a continuous passage that a report without a model shows: adjacent claims of one source.
type excerpt struct {
	claims    []claim // in the order of the source
	relevance float64 // relevance to the topic, 0 to 1
	words     int
	blocks    []report.Block
	body      string // plain text
}

// quoted assembles the report from excerpts, without a model. The best excerpt comes first, then the others by
// document.
func (w *writer) quoted(ctx context.Context) (Report, error) {
	d := draft{extractive: true}
	outline := Outline{Title: w.title}
	var shown []excerpt
	add := func(title string, body []report.Block, of []excerpt) {
		shown = append(shown, of...)
		d.sections = append(d.sections, part{title: title, partText: partText{Blocks: body},
			claims: claimsOfExcerpts(of), excerpts: of})
		outline.Sections = append(outline.Sections, sectionOf(title, claimsOfExcerpts(of)))
	}
	if w.template != nil {
		filled, err := outliner{w.material}.planned(ctx)
		if err != nil {
			return Report{}, err
		}
		outline.Title, outline.Introduction, outline.Conclusion = filled.Title, filled.Introduction, filled.Conclusion
		for _, s := range filled.sections {
			if len(s.claims) == 0 {
				d.sections = append(d.sections, w.nothingFor(s.Title))
				outline.Sections = append(outline.Sections, sectionOf(s.Title, nil))
				continue
			}
			best := choose(w.excerptsOf(s.claims), w.quotedWords()/len(filled.sections))
			add(s.Title, bodies(best, ""), best)
		}
	} else {
		weak := func(e excerpt) bool { return e.relevance < further*enoughShare }
		best := choose(slices.DeleteFunc(w.excerptsOf(w.claims), weak), w.quotedWords())
		add(w.texts.BestMatch.String(), bodies(best[:1], ""), best[:1])
		for _, of := range byDocument(best[1:]) {
			title := documentTitle(of[0].claims[0])
			add(title, bodies(of, title), of)
		}
	}
	left := w.stats.Claims
	for _, e := range shown {
		left -= len(e.claims)
	}
	w.stats.ClaimsLeftOut = left
	if s, ids := w.disagreementSection(nil); len(ids) > 0 {
		d.sections = append(d.sections, s)
	}
	opening := w.texts.Quoted.String()
	if missing := w.unmentioned(shown); len(missing) > 0 {
		opening += w.texts.Space + w.texts.Missing.With(prompts.V{"Terms": missing})
	}
	d.opening = localPart("", opening)
	w.reached(MomentOutlined, outline.titles()...)
	for _, s := range d.sections {
		w.reached(MomentSection, s.title)
	}
	return w.finish(ctx, outline, d)
}

func claimsOfExcerpts(excerpts []excerpt) []claim {
	var claims []claim
	for _, e := range excerpts {
		claims = append(claims, e.claims...)
	}
	return claims
}

// quotedWords returns the approximate number of quoted words of the report.
func (w *writer) quotedWords() int {
	return cmp.Or(w.run.Options.QuotedWords, olderWords[w.run.Options.Preset], defaultWords)
}

// excerptsOf merges adjacent claims of each citation into excerpts. The order is that of the claims' traces.
func (w *writer) excerptsOf(claims []claim) []excerpt {
	at := map[string][]claim{}
	var ids []string
	for _, c := range claims {
		if _, known := at[c.CitationID]; !known {
			ids = append(ids, c.CitationID)
		}
		at[c.CitationID] = append(at[c.CitationID], c)
	}
	var out []excerpt
	for _, id := range ids {
		of := at[id]
		slices.SortStableFunc(of, func(a, b claim) int { return cmp.Compare(a.Start, b.Start) })
		for i, c := range of {
			if i > 0 && c.Start == of[i-1].Start && c.Quote == of[i-1].Quote { // found by another block too
				continue
			}
			if i > 0 && c.Start <= of[i-1].End+maxBetween {
				last := &out[len(out)-1]
				last.claims = append(last.claims, c)
				continue
			}
			out = append(out, excerpt{claims: []claim{c}, relevance: cmp.Or(c.Share, 1)})
		}
	}
	docs := make([]text.Document, len(out))
	for i := range out {
		out[i] = out[i].quoted()
		s := out[i].claims[0].Source
		headings := append([]string{s.Title}, s.Section...)
		docs[i] = text.Document{Heading: strings.Join(headings, "\n"), Text: out[i].body}
	}
	scores := text.BM25(w.run.Topic, docs)
	best := slices.Max(append(scores, 0))
	for i := range out {
		c := out[i].claims[0]
		switch {
		case c.Block == topicqueue.BlockID(1) || best == 0:
		case c.Share == 0: // chosen by a model
			out[i].relevance = further
		default: // Share was ranked by the block's own title
			out[i].relevance = min(c.Share, further*scores[i]/best)
		}
	}
	return out
}

// newExcerpt returns an excerpt of a single claim.
func newExcerpt(c claim) excerpt { return excerpt{claims: []claim{c}}.quoted() }

// quoted fills in the text of an excerpt.
func (e excerpt) quoted() excerpt {
	var quote strings.Builder
	for i, c := range e.claims {
		switch {
		case i > 0 && c.Start <= e.claims[i-1].End+1: // same paragraph
			quote.WriteString(" ")
		case i > 0:
			quote.WriteString("\n\n")
		}
		quote.WriteString(c.Quote)
	}
	e.blocks = report.ParseWhole(quoteMarkdown(quote.String()))
	e.body = report.Plain(e.blocks)
	e.words = report.CountWords(e.body)
	return e
}

// withoutHeld removes excerpts whose words another excerpt contains. The other excerpt gets the higher relevance of the
// two.
func withoutHeld(all []excerpt) []excerpt {
	keys := make([]string, len(all))
	for i, e := range all {
		keys[i] = report.Key(e.body)
	}
	held := make([]bool, len(all))
	for i := range all {
		for j, k := range keys {
			if i != j && strings.Contains(k, keys[i]) && (len(k) > len(keys[i]) || j < i) {
				held[i] = true
				all[j].relevance = max(all[j].relevance, all[i].relevance)
				break
			}
		}
	}
	var out []excerpt
	for i, e := range all {
		if !held[i] {
			out = append(out, e)
		}
	}
	return out
}

// choose selects whole excerpts by maximal marginal relevance, best first, up to the number of words. It returns at
// least one, if there are any. The last one may exceed the limit by two thirds.
func choose(all []excerpt, words int) []excerpt {
	all = withoutHeld(all)
	var chosen []excerpt
	taken := make([]bool, len(all))
	for used := 0; used < words; {
		best, most := -1, 0.0
		for i, e := range all {
			if taken[i] || len(chosen) > 0 && used+e.words > words+words*2/3 {
				continue
			}
			alike := 0.0
			for _, c := range chosen {
				alike = max(alike, text.Similarity(e.body, c.body))
			}
			if score := variety*e.relevance - (1-variety)*alike; best < 0 || score > most {
				best, most = i, score
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		used += all[best].words
		chosen = append(chosen, all[best])
	}
	return chosen
}

// byDocument groups excerpts by document. Groups are in the order of their best excerpt, and excerpts of one document
// in the document's order.
func byDocument(all []excerpt) [][]excerpt {
	at := map[string]int{}
	var out [][]excerpt
	for _, e := range all {
		key := e.claims[0].Document()
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	for _, of := range out {
		slices.SortStableFunc(of, func(a, b excerpt) int { return cmp.Compare(a.claims[0].Offset(), b.claims[0].Offset()) })
	}
	return out
}

func documentTitle(c claim) string {
	return cmp.Or(report.CleanTitle(text.Heading(c.Source.Title)), report.CleanTitle(c.Source.Title), c.Document())
}

// bodies returns excerpts below headings that name their place. document: title of the document if it is already shown
// above, else "".
func bodies(all []excerpt, document string) (out []report.Block) {
	last := ""
	for _, e := range all {
		if place := placeTitle(e.claims[0], document); place != last {
			last = place
			if place != "" {
				title := []report.Sentence{{Text: report.Escape(place)}}
				out = append(out, report.Block{Kind: report.KindHeading, Level: 3, Sentences: title})
			}
		}
		out = append(out, e.shown()...)
	}
	return out
}

// shown returns an excerpt as a block; nothing if it has no text.
func (e excerpt) shown() []report.Block {
	if len(e.blocks) == 0 {
		return nil
	}
	return []report.Block{{Kind: report.KindExcerpt, Blocks: e.blocks, Citation: e.claims[0].CitationID,
		Mark: report.Mark{Verdict: string(support.Supported), State: report.StateQuoted}}}
}

// placeTitle names the place of a claim: document and sections, without a title that is already shown.
func placeTitle(c claim, document string) string {
	var names []string
	for _, h := range append([]string{c.Source.Title}, c.Source.Section...) {
		title := report.CleanTitle(text.Heading(h))
		if title == "" && strings.ContainsFunc(h, unicode.IsDigit) { // a version or a date
			title = text.Line(h)
		}
		if title != "" && title != document && !slices.Contains(names, title) {
			names = append(names, title)
		}
	}
	return strings.Join(names, " › ")
}

// maxUnmentioned is the maximum number of topic words that a report lists as not covered.
const maxUnmentioned = 4

// unmentioned returns the words of the topic that appear in no excerpt, heading or source name.
func (w *writer) unmentioned(shown []excerpt) []string {
	has := map[string]bool{}
	for _, e := range shown {
		s := e.claims[0].Source
		for _, t := range text.Terms(strings.Join(append([]string{e.body, s.Title, s.Document, s.URL}, s.Section...), "\n")) {
			has[t] = true
		}
	}
	var missing []string
	for word := range strings.FieldsSeq(w.run.Topic) {
		word = strings.Trim(word, `.,;:?!()[]"'“”‘’«»`)
		terms := text.Terms(word)
		if len(terms) == 0 || strings.ContainsFunc(word, text.Wide) || len(missing) == maxUnmentioned {
			continue
		}
		if !slices.ContainsFunc(terms, func(t string) bool { return has[t] }) && !slices.Contains(missing, word) {
			missing = append(missing, word)
		}
	}
	return missing
}

// checkQuoted records the excerpts of a report without a model as verbatim quotations with their positions.
func (w *writer) checkQuoted(d draft) *Verification {
	v := newVerification()
	for _, s := range d.sections {
		for _, e := range s.excerpts {
			first, last := e.claims[0], e.claims[len(e.claims)-1]
			checked := CheckedSentence{
				Text: e.body, Section: s.title, Citations: []string{first.CitationID}, Verdict: support.Supported,
				Source: first.Source.ID, Start: first.Start, End: last.End, Action: ActionKept, Quote: true,
			}
			if first.Source.Hash != "" {
				checked.Page = topicqueue.PagePath(first.Source.Hash)
			}
			v.Sentences = append(v.Sentences, checked)
		}
	}
	v.count()
	return v
}
