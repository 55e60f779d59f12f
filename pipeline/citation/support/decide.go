package support

import (
	"slices"
	"strings"
	"unicode"
)

// Result is the verdict on a sentence.
type Result string

// The verdicts.
const (
	Supported   Result = "supported"   // verbatim in a source, or judged supported by words found in one
	Unsupported Result = "unsupported" // judged so, or by an absent quotation or figure: see Decide
	Unverified  Result = "unverified"  // neither
)

// Judgement is a model's answer about a sentence.
type Judgement string

// The judgements.
const (
	JudgedSupported    Judgement = "supported"
	JudgedContradicted Judgement = "contradicted"
	JudgedPartly       Judgement = "partly"
	JudgedAbsent       Judgement = "not_in_source"
	// the sentence weighs, advises or infers, and the facts it is based on are in the sources
	JudgedConclusion Judgement = "conclusion"
)

// Judged is a model's answer about a sentence, or the reason why there is none.
type Judged struct {
	Judgement Judgement `json:"judgement,omitempty"` // "": there is none
	Words     string    `json:"words,omitempty"`     // decisive sentences and rows of sources, joined by " ... "
	Span      *Span     `json:"span,omitempty"`      // position of the longest of them; nil: not in a cited source
	Sum       string    `json:"sum,omitempty"`       // the model's calculation, if a figure is computed
	Wrong     string    `json:"wrong,omitempty"`     // what is wrong, in one plain sentence
	By        string    `json:"by,omitempty"`        // "" for the judge; ByRepair
	Missing   Missing   `json:"missing,omitempty"`   // why there is no judgement
}

// ByRepair marks a judgement made by the repair of a sentence, which quotes the words that support it.
const ByRepair = "repair"

// Missing says why a sentence was not judged.
type Missing string

// The reasons. A verbatim sentence needs no judgement and has no Judged.
const (
	NoJudge  Missing = "no_model"
	NoAnswer Missing = "no_answer" // the call failed, or budget or time was used up
	NoRoom   Missing = "no_room"   // one call had no room for it; only in records of older versions
	NoSource Missing = "no_text"   // no cited source has a text
)

// Decide returns the verdict on a sentence.
//
// A verbatim sentence is supported; one with an absent quotation is not. Otherwise the judgement decides, because a
// model that reads the sources also computes and knows what is meant. "supported" counts only if its words are in a
// cited source; these must contain figures if a figure of the sentence is absent. "partly" makes a sentence unsupported
// only if a figure is absent: else nothing can be named that its sources lack. A conclusion is the writer's own: it is
// unverified, not wrong. Without a judgement, a sentence with a figure that a source has in nearly the same form is
// unsupported. Other absent figures prove nothing then, because writers round and compute.
func (f Findings) Decide(j Judged) Result {
	misstated := func(g Figure) bool { return g.Instead != "" }
	switch {
	case f.Quotation.Result == Verbatim:
		return Supported
	case f.Quotation.Result == Absent:
		return Unsupported
	}
	switch j.Judgement {
	case JudgedContradicted, JudgedAbsent:
		return Unsupported
	case JudgedPartly:
		if f.Has(Absent) {
			return Unsupported
		}
	case JudgedSupported:
		if j.Span != nil && (!f.Has(Absent) || strings.ContainsFunc(j.Words, unicode.IsDigit)) {
			return Supported
		}
	case "":
		if slices.ContainsFunc(f.Figures, misstated) {
			return Unsupported
		}
	}
	return Unverified
}

// Has reports whether some figure has this finding.
func (f Findings) Has(r Finding) bool {
	return slices.ContainsFunc(f.Figures, func(g Figure) bool { return g.Result == r })
}

// Missing returns the figures and the quotation that were not found, in quotation marks.
func (f Findings) Missing() []string {
	var absent []string
	for _, g := range f.Figures {
		if g.Result == Absent {
			absent = append(absent, "“"+g.Text+"”")
		}
	}
	if f.Quotation.Result == Absent {
		absent = append(absent, "“"+f.Quotation.Missing+"”")
	}
	return absent
}

// Shown returns the passage of the sources with these IDs to show beside a sentence: the words that decided the
// judgement, else its quotation, else the sentence with one of its figures, else the sentence with most of its words.
// It returns the zero Span if there is none.
func (c *Corpus) Shown(sentence string, ids []string, f Findings, j Judged) Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j.Span != nil && j.Span.End > 0 {
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

// Prove sets j.Span to the position of the judgement's words in the sources with these IDs, or to nil if they are not
// found. The words may also be in Source.About, which has no positions: Start and End are 0. If the words contain
// "...", every part must be found; the span is that of the longest part.
func (c *Corpus) Prove(j Judged, ids []string) Judged {
	c.mu.Lock()
	defer c.mu.Unlock()
	j.Span = nil
	if wordsOf(j.Words) < minQuote {
		return j
	}
	docs := c.documents(ids)
	if span, ok := findQuote(j.Words, docs); ok {
		j.Span = &span
		return j
	}
	longest := 0
	for _, part := range partsOf(j.Words) {
		span, ok := findQuote(part, docs)
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
