// Package quoted makes excerpts of the claims of a run, for reports without a model: continuous passages of the
// sources, word for word, ranked and chosen. Entry points: Excerpts and Choose.
package quoted

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Constants of a report without a model.
const (
	// maxBetween is the maximum distance between two claims of an excerpt, in bytes.
	maxBetween = 8
	// Further is the factor on the scores (BM25 for the topic, relative to the best) of passages from blocks after the
	// first, whose sections answered the topic less well.
	Further = 0.8
)

// Excerpt is a continuous passage that a report without a model shows: adjacent claims of one source.
type Excerpt struct {
	Claims    []evidence.Claim // in the order of the source
	Relevance float64          // relevance to the topic, 0 to 1
	words     int
	blocks    []report.Block
	Body      string // plain text
}

// Excerpts merges adjacent claims of each citation into excerpts. The order is that of the claims' traces.
func Excerpts(topic string, claims []evidence.Claim) []Excerpt {
	at := map[string][]evidence.Claim{}
	var ids []string
	for _, c := range claims {
		if _, known := at[c.CitationID]; !known {
			ids = append(ids, c.CitationID)
		}
		at[c.CitationID] = append(at[c.CitationID], c)
	}
	type place struct {
		document string
		offset   int
		quote    string
	}
	var out []Excerpt
	seen := map[place]bool{} // a passage is in more than one source if it stands around others
	for _, id := range ids {
		of := slices.DeleteFunc(at[id], func(c evidence.Claim) bool {
			p := place{c.Document(), c.Offset(), c.Quote}
			twice := seen[p]
			seen[p] = true
			return twice
		})
		slices.SortStableFunc(of, func(a, b evidence.Claim) int { return cmp.Compare(a.Start, b.Start) })
		for i, c := range of {
			if i > 0 && c.Start <= of[i-1].End+maxBetween {
				last := &out[len(out)-1]
				last.Claims = append(last.Claims, c)
				continue
			}
			out = append(out, Excerpt{Claims: []evidence.Claim{c}, Relevance: cmp.Or(c.Share, 1)})
		}
	}
	docs := make([]text.Document, len(out))
	for i := range out {
		out[i] = out[i].quoted()
		s := out[i].Claims[0].Source
		headings := append([]string{s.Title}, s.Section...)
		docs[i] = text.Document{Heading: strings.Join(headings, "\n"), Text: out[i].Body}
	}
	scores := text.BM25(topic, docs)
	best := slices.Max(append(scores, 0))
	for i := range out {
		c := out[i].Claims[0]
		switch {
		case c.Block == topicqueue.BlockID(1) || best == 0:
		case c.Share == 0: // chosen by a model
			out[i].Relevance = Further
		default: // Share was ranked by the block's own title
			out[i].Relevance = min(c.Share, Further*scores[i]/best)
		}
	}
	return out
}

// New returns an excerpt of a single claim.
func New(c evidence.Claim) Excerpt { return Excerpt{Claims: []evidence.Claim{c}}.quoted() }

// quoted fills in the text of an excerpt.
func (e Excerpt) quoted() Excerpt {
	var quote strings.Builder
	for i, c := range e.Claims {
		switch {
		case i > 0 && c.Start <= e.Claims[i-1].End+1: // same paragraph
			quote.WriteString(" ")
		case i > 0:
			quote.WriteString("\n\n")
		}
		quote.WriteString(c.Quote)
	}
	e.blocks = report.ParseWhole(Markdown(quote.String()))
	e.Body = report.Plain(e.blocks)
	e.words = report.CountWords(e.Body)
	return e
}

// withoutHeld removes excerpts whose words another excerpt contains. The other excerpt gets the higher relevance of the
// two.
func withoutHeld(all []Excerpt) []Excerpt {
	keys := make([]string, len(all))
	for i, e := range all {
		keys[i] = report.Key(e.Body)
	}
	held := make([]bool, len(all))
	for i := range all {
		for j, k := range keys {
			if i != j && strings.Contains(k, keys[i]) && (len(k) > len(keys[i]) || j < i) {
				held[i] = true
				all[j].Relevance = max(all[j].Relevance, all[i].Relevance)
				break
			}
		}
	}
	var out []Excerpt
	for i, e := range all {
		if !held[i] {
			out = append(out, e)
		}
	}
	return out
}

// Choose selects whole excerpts, most relevant first, up to the number of words. It returns at least one, if there are
// any. The last one may exceed the limit by two thirds.
func Choose(all []Excerpt, words int) []Excerpt {
	all = withoutHeld(all)
	slices.SortStableFunc(all, func(a, b Excerpt) int { return cmp.Compare(b.Relevance, a.Relevance) })
	var chosen []Excerpt
	used := 0
	for _, e := range all {
		if len(chosen) == 0 || used < words && used+e.words <= words+words*2/3 {
			chosen = append(chosen, e)
			used += e.words
		}
	}
	return chosen
}

// OfSection returns the excerpts of the section of the first one, in order, and the others.
func OfSection(all []Excerpt) (of, others []Excerpt) {
	for _, e := range all {
		if first, c := all[0].Claims[0], e.Claims[0]; c.Document() == first.Document() &&
			slices.Equal(c.Source.Section, first.Source.Section) {
			of = append(of, e)
		} else {
			others = append(others, e)
		}
	}
	slices.SortStableFunc(of, inDocument)
	return of, others
}

func inDocument(a, b Excerpt) int { return cmp.Compare(a.Claims[0].Offset(), b.Claims[0].Offset()) }

// ByDocument groups excerpts by document. Groups are in the order of their best excerpt, and excerpts of one document
// in the document's order.
func ByDocument(all []Excerpt) [][]Excerpt {
	at := map[string]int{}
	var out [][]Excerpt
	for _, e := range all {
		key := e.Claims[0].Document()
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	for _, of := range out {
		slices.SortStableFunc(of, inDocument)
	}
	return out
}

func DocumentTitle(c evidence.Claim) string {
	return cmp.Or(report.CleanTitle(text.Heading(c.Source.Title)), report.CleanTitle(c.Source.Title), c.Document())
}

// Bodies returns excerpts below headings that name their place. document: title of the document if it is already shown
// above, else "".
func Bodies(all []Excerpt, document string) (out []report.Block) {
	last := ""
	for _, e := range all {
		if place := placeTitle(e.Claims[0], document); place != last {
			last = place
			if place != "" {
				title := []report.Sentence{{Text: report.Escape(place)}}
				out = append(out, report.Block{Kind: report.KindHeading, Level: 3, Sentences: title})
			}
		}
		out = append(out, e.Shown()...)
	}
	return out
}

// Shown returns an excerpt as a block; nothing if it has no text.
func (e Excerpt) Shown() []report.Block {
	if len(e.blocks) == 0 {
		return nil
	}
	return []report.Block{{Kind: report.KindExcerpt, Blocks: e.blocks, Citation: e.Claims[0].CitationID,
		Mark: report.Mark{Verdict: string(support.Supported), State: report.StateQuoted}}}
}

// placeTitle names the place of a claim: document and sections, without a title that is already shown.
func placeTitle(c evidence.Claim, document string) string {
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
