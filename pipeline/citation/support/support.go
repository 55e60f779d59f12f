// Package support finds in the sources that a sentence cites what shows the sentence to be right or wrong. It is
// deterministic and asks no model.
//
// There are two findings. Quotation: the sentence, or what it puts in quotation marks, stands verbatim in a cited
// source. Figures: each figure and date is in a cited source, can be computed from figures that are, or is absent.
// Words that sentence and source share prove nothing, so everything else is for a model (package judging), which
// gets the Passages that bear on the sentence, and whose answer Decide combines with the findings.
//
// Entry points: New takes the sources, Corpus.Check finds, Decide gives the verdict. Time is linear in the length
// of the texts; foreign text never makes anything fail.
package support

import (
	"strings"
	"sync"

	"nightdesk/pipeline/text"
)

// Rules is the number of the rules by which this version checks. Raise it when a change makes other findings or
// verdicts of the same texts: a bundle that was checked by other rules is then not taken for forged.
const Rules = 10

// Source is a text that can be cited.
type Source struct {
	ID    string
	Text  string // UTF-8, any length
	About string // what else is known of it: title, headings, authors, publisher, date
}

// Span is a place in the text of a source.
type Span struct {
	Source string `json:"source"` // Source.ID
	Start  int    `json:"start"`  // bytes
	End    int    `json:"end"`
}

// Finding says what was found of a quotation or figure.
type Finding string

// The findings.
const (
	Verbatim Finding = "verbatim" // the whole sentence stands in a source
	Found    Finding = "found"    // all quoted passages do; the figure does
	Derived  Finding = "derived"  // of a figure: it can be computed from figures of the sources
	Absent   Finding = "absent"
)

// Findings are what was found of one sentence.
type Findings struct {
	NoText    bool      `json:"no_text,omitempty"` // no cited source has a text: nothing was looked for
	Quotation Quotation `json:"quotation,omitzero"`
	Figures   []Figure  `json:"figures,omitempty"` // in the order of the sentence
}

// Quotation is the finding about verbatim words.
type Quotation struct {
	Result  Finding `json:"result"`          // Verbatim, Found or Absent
	Spans   []Span  `json:"spans,omitempty"` // of the sentence, or of the quoted passages that stand in a text
	Missing string  `json:"missing,omitempty"`
}

// Figure is the finding about one figure or date.
type Figure struct {
	Text      string  `json:"text"`                // as the sentence writes it
	Result    Finding `json:"result"`              // Found, Derived or Absent
	Spans     []Span  `json:"spans,omitempty"`     // where it or the operands stand; none: in About
	Operation string  `json:"operation,omitempty"` // of a derived one: 41.6 - 38.2
	Instead   string  `json:"instead,omitempty"`   // of an absent one: the figure that the source has in its place
	Slip      bool    `json:"slip,omitempty"`      // Instead is nearly the same
}

// Corpus holds sources in a form that many sentences can be checked by. A source is read when it is first cited.
// Safe for concurrent use, one call at a time.
type Corpus struct {
	mu      sync.Mutex // for what is made when it is first needed
	sources map[string]Source
	read    map[string]*document
}

// New returns the corpus of these sources. Of two with one ID the first counts.
func New(sources []Source) *Corpus {
	c := &Corpus{sources: map[string]Source{}, read: map[string]*document{}}
	for _, s := range sources {
		if _, known := c.sources[s.ID]; !known {
			c.sources[s.ID] = s
		}
	}
	return c
}

// Text returns the text of a span, empty when there is no such place.
func (c *Corpus) Text(s Span) string {
	source, ok := c.sources[s.Source]
	if !ok || s.Start < 0 || s.Start > s.End || s.End > len(source.Text) {
		return ""
	}
	return source.Text[s.Start:s.End]
}

// Beginning returns the first bytes of a source's text, empty for one that is unknown.
func (c *Corpus) Beginning(id string) string {
	whole := c.sources[id].Text
	return whole[:min(len(whole), beginning)]
}

const beginning = 1000

// Check looks for a sentence in the sources with these IDs; unknown ones are ignored. sentence: UTF-8 without citation
// markers; Markdown emphasis, links and escapes are read as what they show. head: the first row of the table, when the
// sentence is a row of one.
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
		return Findings{Quotation: quotation} // and so its figures
	}
	return Findings{Quotation: quotation, Figures: figuresOf(sentence, plain(head), docs)}
}

// documents returns the sources with these IDs whose text is known, each once.
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

// document is a source that is checked by. What takes time to make is made when it is first needed.
type document struct {
	Source
	units  []unit
	blocks []text.Block
	fold   *text.Folded
	index  *text.Index
	values []value // of the text, in order
	about  []value // of Source.About
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
