package support

import (
	"slices"
	"strings"
	"unicode"
)

// Result is a verdict.
type Result string

// The verdicts.
const (
	Supported   Result = "supported"   // verbatim, or judged so with words that stand in a source
	Unsupported Result = "unsupported" // judged so; a quotation is absent; not judged, and a source has another figure
	Unverified  Result = "unverified"  // neither
)

// Judgement is what a model has said of a sentence.
type Judgement string

// The judgements.
const (
	JudgedSupported    Judgement = "supported"
	JudgedContradicted Judgement = "contradicted"
	JudgedPartly       Judgement = "partly"
	JudgedAbsent       Judgement = "not_in_source"
	// the sentence weighs, advises or infers, and the facts that it rests on are in the sources
	JudgedConclusion Judgement = "conclusion"
)

// Judged is the answer of a judge, or why there is none.
type Judged struct {
	Judgement Judgement `json:"judgement,omitempty"` // "": there is none
	Words     string    `json:"words,omitempty"`     // of a source, that decide it
	Span      *Span     `json:"span,omitempty"`      // where these stand; nil: in no cited source
	Wrong     string    `json:"wrong,omitempty"`     // one plain sentence
	By        string    `json:"by,omitempty"`        // "" for the judge; ByRepair
	Missing   Missing   `json:"missing,omitempty"`   // why there is no judgement
}

// ByRepair marks the judgement of a repaired sentence: the repair has named the words that show it.
const ByRepair = "repair"

// Missing says why a sentence was not judged.
type Missing string

// The reasons. A verbatim sentence needs no judge and has no Judged.
const (
	NoJudge  Missing = "no_model"
	NoAnswer Missing = "no_answer" // the call failed, or there was no money or time for it
	NoRoom   Missing = "no_room"   // the section has more sentences than one call holds
	NoSource Missing = "no_text"   // no cited source has a text
)

// Decide gives the verdict.
//
// An absent figure counts against a sentence where the source has nearly the same one, or another date, instead: a
// slip. Where nobody judges, it also counts where the place that matches the sentence best has another figure of its
// kind and unit. Any other may be computed in a way that is not known here.
//
// A judge's "supported" counts only with words that stand in a cited source. For a figure that is absent, these words
// must have figures from which it may follow, and not the other figure of a slip. Its "partly" and "not_in_source" do
// not count against figures that are computed: judges often miss that. A conclusion is the writer's own: it is not
// confirmed, and no fault.
func (f Findings) Decide(j Judged) Result {
	switch {
	case f.Quotation.Result == Verbatim:
		return Supported
	case f.Quotation.Result == Absent, j.Judgement == JudgedContradicted:
		return Unsupported
	case j.Judgement == JudgedSupported && j.Span != nil && f.Has(Absent) && !f.mayFollow(j.Words):
		return Unverified
	case j.Judgement == JudgedSupported && j.Span != nil:
		return Supported
	case j.Judgement == JudgedConclusion && j.Span != nil:
		return Unverified
	case slices.ContainsFunc(f.Figures, func(g Figure) bool { return g.Slip || g.Instead != "" && j.Judgement == "" }):
		return Unsupported
	case (j.Judgement == JudgedPartly || j.Judgement == JudgedAbsent) && !f.Has(Derived):
		return Unsupported
	}
	return Unverified
}

// mayFollow reports whether absent figures may follow from words of a source: they have figures, and not one of which
// an absent figure is a slip.
func (f Findings) mayFollow(words string) bool {
	slip := func(g Figure) bool { return g.Slip && strings.Contains(words, g.Instead) }
	return strings.ContainsFunc(words, unicode.IsDigit) && !slices.ContainsFunc(f.Figures, slip)
}

// Has reports a figure with this finding.
func (f Findings) Has(r Finding) bool {
	return slices.ContainsFunc(f.Figures, func(g Figure) bool { return g.Result == r })
}

// Shown returns the passage of the sources with these IDs that a reader should see beside a sentence: the words
// that decided, else its quotation, else the sentence with one of its figures, else the one with most of its words;
// the zero Span when there is none.
func (c *Corpus) Shown(sentence string, ids []string, f Findings, j Judged) Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j.Span != nil {
		return *j.Span
	}
	if len(f.Quotation.Spans) > 0 {
		return f.Quotation.Spans[0]
	}
	docs := c.documents(ids)
	for _, g := range f.Figures {
		for _, d := range docs {
			if len(g.Spans) > 0 && d.ID == g.Spans[0].Source {
				u := d.units[d.unitAt(g.Spans[0].Start)]
				return Span{d.ID, u.start, max(u.end, g.Spans[0].End)}
			}
		}
	}
	for _, d := range docs {
		if best := d.ranked(plain(sentence), 1); len(best) > 0 {
			return Span{d.ID, d.units[best[0]].start, d.units[best[0]].end}
		}
	}
	return Span{}
}

// Prove looks for the words of a judgement in the sources with these IDs, and notes where they stand. Where words
// are left out with "...", each part must stand there; the place of the longest is noted.
func (c *Corpus) Prove(j Judged, ids []string) Judged {
	c.mu.Lock()
	defer c.mu.Unlock()
	j.Span = nil
	if wordsOf(j.Words) < minQuote {
		return j
	}
	if span, ok := c.find(j.Words, ids); ok {
		j.Span = &span
		return j
	}
	longest := 0
	for _, part := range partsOf(j.Words) {
		span, ok := c.find(part, ids)
		if !ok {
			j.Span = nil
			return j
		}
		if len(part) > longest {
			longest, j.Span = len(part), &span
		}
	}
	return j
}

// find returns where words stand verbatim in one of the sources with these IDs.
func (c *Corpus) find(words string, ids []string) (Span, bool) {
	for _, d := range c.documents(ids) {
		if start, end, ok := d.folded().Find(words); ok {
			return Span{d.ID, start, end}, true
		}
	}
	return Span{}, false
}
