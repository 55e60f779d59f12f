// Package support checks a sentence against the sources that it cites. It is deterministic and uses no model.
//
// There are two kinds of findings. Quotation: whether the sentence, or its text in quotation marks, is verbatim in a
// cited source. Figures: whether each figure and date is in a cited source. Words shared by sentence and source prove
// nothing, and whoever computes needs to know what is meant, so a model decides the rest (package judging). It gets the
// Passages relevant to the sentence, and Decide combines its answer with the findings.
//
// Entry points: New takes the sources, Corpus.Check returns the findings, Decide the verdict. Time is linear in the
// length of the texts. No input text causes an error.
package support

import (
	"strings"
	"sync"

	"nightdesk/pipeline/text"
)

// Rules is the version of the checking rules. Verification of older bundles depends on it: a bundle that was checked by
// other rules is not reported as forged. Increment it with every change that affects findings or verdicts.
const Rules = 14

// Source is a text that can be cited.
type Source struct {
	ID    string
	Text  string // UTF-8, any length
	About string // metadata: title, headings, authors, publisher, date
}

// Span is a range in the text of a source.
type Span struct {
	Source string `json:"source"` // Source.ID
	Start  int    `json:"start"`  // in bytes
	End    int    `json:"end"`
}

// Finding is the result of looking for a quotation or figure.
type Finding string

// The findings.
const (
	Verbatim Finding = "verbatim" // the whole sentence is in a source
	Found    Finding = "found"    // all quoted passages, or the figure, are in a source
	Absent   Finding = "absent"
)

// Findings are the results for one sentence.
type Findings struct {
	NoText    bool      `json:"no_text,omitempty"` // no cited source has a text, so nothing was checked
	Quotation Quotation `json:"quotation,omitzero"`
	Figures   []Figure  `json:"figures,omitempty"` // in sentence order
}

// Quotation is the finding about verbatim text.
type Quotation struct {
	Result  Finding `json:"result"`          // Verbatim, Found or Absent
	Spans   []Span  `json:"spans,omitempty"` // positions of the sentence, or of the quoted passages found
	Missing string  `json:"missing,omitempty"`
}

// Figure is the finding about one figure or date.
type Figure struct {
	Text    string  `json:"text"`              // as written in the sentence
	Result  Finding `json:"result"`            // Found or Absent
	Spans   []Span  `json:"spans,omitempty"`   // its position; none: in About
	Instead string  `json:"instead,omitempty"` // of an absent figure: nearly the same figure, in a source
}

// Corpus holds sources indexed for checking. A source is indexed when it is first cited. Safe for concurrent use, but
// calls run one at a time.
type Corpus struct {
	mu      sync.Mutex // guards the lazily built fields
	sources map[string]Source
	read    map[string]*document
}

// New returns the corpus of these sources. If two have the same ID, the first is used.
func New(sources []Source) *Corpus {
	c := &Corpus{sources: map[string]Source{}, read: map[string]*document{}}
	for _, s := range sources {
		if _, known := c.sources[s.ID]; !known {
			c.sources[s.ID] = s
		}
	}
	return c
}

// Text returns the text of a span, or "" if the span is invalid.
func (c *Corpus) Text(s Span) string {
	source, ok := c.sources[s.Source]
	if !ok || s.Start < 0 || s.Start > s.End || s.End > len(source.Text) {
		return ""
	}
	return source.Text[s.Start:s.End]
}

// About returns Source.About, or "" for an unknown source.
func (c *Corpus) About(id string) string { return c.sources[id].About }

// Size returns the length of a source's text in bytes, 0 for an unknown source.
func (c *Corpus) Size(id string) int { return len(c.sources[id].Text) }

// Beginning returns the first bytes of a source's text, or "" for an unknown source.
func (c *Corpus) Beginning(id string) string {
	whole := c.sources[id].Text
	return whole[:min(len(whole), beginning)]
}

const beginning = 1000

// Check looks for a sentence in the sources with these IDs; unknown IDs are ignored. sentence: UTF-8 without citation
// markers; Markdown emphasis, links and escapes are removed. head: the header row, if the sentence is a table row.
func (c *Corpus) Check(sentence, head string, ids []string) Findings {
	c.mu.Lock()
	defer c.mu.Unlock()
	docs := c.documents(ids)
	if len(docs) == 0 {
		return Findings{NoText: true}
	}
	sentence = plain(sentence)
	quotation := quotationOf(sentence, docs)
	if quotation.Result == Verbatim {
		return Findings{Quotation: quotation} // which includes its figures
	}
	return Findings{Quotation: quotation, Figures: figuresOf(sentence, plain(head), docs)}
}

// documents returns the sources with these IDs that have a text, without duplicates.
func (c *Corpus) documents(ids []string) []*document {
	var out []*document
	seen := map[string]bool{}
	for _, id := range ids {
		d, read := c.read[id]
		if !read {
			if s, known := c.sources[id]; known && strings.TrimSpace(s.Text) != "" {
				d = &document{Source: s, units: unitsOf(s.Text)}
			}
			c.read[id] = d
		}
		if d != nil && !seen[id] {
			seen[id] = true
			out = append(out, d)
		}
	}
	return out
}

// document is an indexed source. Its indexes are built when first needed.
type document struct {
	Source
	units  []unit
	blocks []text.Block
	fold   *text.Folded
	index  *text.Index
	values []value // figures of the text, in order
	about  []value // figures of Source.About
	valued bool
}

// paragraphs returns the blocks of the text.
func (d *document) paragraphs() []text.Block {
	if d.blocks == nil {
		d.blocks = text.Blocks(d.Text)
	}
	return d.blocks
}

func (d *document) folded() text.Folded {
	if d.fold == nil {
		f := text.Fold(d.Text)
		d.fold = &f
	}
	return *d.fold
}
