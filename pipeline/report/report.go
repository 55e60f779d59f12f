// Package report holds a report as a value: sections of blocks of sentences, each with the citations behind it. Every
// step of writing, checking and showing a report maps this value or reads it; Markdown is one rendering of it.
//
// Parse makes blocks of the Markdown that a model wrote, once. Statements lists what a check looks at, and Edits
// carries out what it decided. Markdown renders. The package calls no model and stores nothing.
package report

import "slices"

// Format is the version of the structure that Report is stored in.
const Format = 1

// Report is a finished report: the content of report.json. Status and Imprint are lines of inline Markdown.
type Report struct {
	Format     int         `json:"format"`
	Title      string      `json:"title"` // plain text
	Sections   []Section   `json:"sections"`
	Status     []string    `json:"status,omitempty"` // below the answer: result of the check, why the run is partial
	References []Reference `json:"references"`
	Imprint    []string    `json:"imprint,omitempty"` // at the end: how the report was made, and the run's ids
}

// Roles of sections.
const (
	RoleChanges    = "changes"    // what changed since the last report
	RoleAnswer     = "answer"     // the text below the title
	RoleSection    = "section"    // written from the evidence
	RoleConclusion = "conclusion" // the text at the end
	RoleGaps       = "gaps"       // what the report does not cover
)

// Section is a part of a report below one heading.
type Section struct {
	Role   string  `json:"role"`
	Title  string  `json:"title,omitempty"` // plain text; empty: no heading
	Blocks []Block `json:"blocks"`
}

// Kinds of blocks.
const (
	KindParagraph = "paragraph"
	KindHeading   = "heading"
	KindList      = "list"
	KindTable     = "table"
	KindCode      = "code"
	KindQuote     = "quote"   // a quotation that the writer set
	KindExcerpt   = "excerpt" // a verbatim passage of a source, with its citation
	KindFigure    = "figure"
)

// Block is a paragraph, heading, list, table, code, quotation or figure.
type Block struct {
	Kind      string     `json:"kind"`
	Level     int        `json:"level,omitempty"`     // of a heading: 3 or 4
	Sentences []Sentence `json:"sentences,omitempty"` // of a paragraph or heading, and the caption of a figure
	Ordered   bool       `json:"ordered,omitempty"`   // of a list
	Start     int        `json:"start,omitempty"`     // number of the first item of an ordered list
	Items     [][]Block  `json:"items,omitempty"`     // of a list
	Rows      []Row      `json:"rows,omitempty"`      // of a table; the first one is its header
	Align     []string   `json:"align,omitempty"`     // of a table's columns: "", left, right or center
	Code      string     `json:"code,omitempty"`
	Language  string     `json:"language,omitempty"` // of code
	Blocks    []Block    `json:"blocks,omitempty"`   // of a quotation or excerpt
	Citation  string     `json:"citation,omitempty"` // of an excerpt
	Picture   string     `json:"picture,omitempty"`  // of a figure: figures/<sha256>.svg or .png
	Title     string     `json:"title,omitempty"`    // of a figure, plain text
	Mark
}

// Sentence is a sentence, a cell of a table, or the text of a heading.
type Sentence struct {
	Text  string `json:"text"` // Markdown on one line, without citations
	Cites []Cite `json:"cites,omitempty"`
	Mark
}

// Row is a row of a table.
type Row struct {
	Cells []Sentence `json:"cells"`
	Mark
}

// Cite is a citation within a sentence.
type Cite struct {
	ID string `json:"id"` // CIT-1-02
	At int    `json:"at"` // byte offset in Text of the place where it stands
}

// States of a statement.
const (
	StateWritten   = ""          // as written
	StateCorrected = "corrected" // rewritten by the check
	StateMarked    = "marked"    // without support in the sources, and shown as such
	StateQuoted    = "quoted"    // words of the source
)

// Mark is what the check found about a statement.
type Mark struct {
	Verdict string `json:"verdict,omitempty"` // supported, conclusion, unverified or unsupported; empty: not checked
	State   string `json:"state,omitempty"`
	Check   int    `json:"check,omitempty"` // number of the sentence in verification.json, from 1
	New     bool   `json:"new,omitempty"`   // not in the last report on the topic
}

// Reference is a source of the report. In anchored style it has an entry for each cited place of a document.
type Reference struct {
	About   string  `json:"about,omitempty"` // inline Markdown: the document; empty in numbered style
	Entries []Entry `json:"entries"`
}

// Entry is a line of a reference, to which citations lead.
type Entry struct {
	IDs   []string `json:"ids"`   // citations that it stands for
	Label string   `json:"label"` // CIT-1-02, or a number
	Text  string   `json:"text"`  // inline Markdown
}

// Anchor returns the fragment of an entry's address, without #.
func (e Entry) Anchor() string { return anchor(e.Label) }

// Labels returns the label of each citation in the report.
func (r Report) Labels() map[string]string {
	labels := map[string]string{}
	for _, ref := range r.References {
		for _, e := range ref.Entries {
			for _, id := range e.IDs {
				labels[id] = e.Label
			}
		}
	}
	return labels
}

// Clone returns a deep copy of blocks.
func Clone(blocks []Block) []Block {
	out := slices.Clone(blocks)
	sentences := func(list []Sentence) []Sentence {
		list = slices.Clone(list)
		for i := range list {
			list[i].Cites = slices.Clone(list[i].Cites)
		}
		return list
	}
	for i := range out {
		b := &out[i]
		b.Sentences, b.Blocks, b.Items, b.Rows = sentences(b.Sentences), Clone(b.Blocks), slices.Clone(b.Items),
			slices.Clone(b.Rows)
		for n := range b.Items {
			b.Items[n] = Clone(b.Items[n])
		}
		for n := range b.Rows {
			b.Rows[n].Cells = sentences(b.Rows[n].Cells)
		}
	}
	return out
}

// Quoted returns the blocks of an excerpt with its citation: behind the last words, or below a table or code.
func (b Block) Quoted() []Block {
	blocks := Clone(b.Blocks)
	last := lastWords(blocks)
	if last == nil {
		blocks = append(blocks, Block{Kind: KindParagraph, Sentences: []Sentence{{Text: "—"}}})
		last = lastWords(blocks)
	}
	last.Cites = append(last.Cites, Cite{b.Citation, len(last.Text)})
	return blocks
}

// lastWords returns the sentence that blocks end with; nil if they end otherwise.
func lastWords(blocks []Block) *Sentence {
	if len(blocks) == 0 {
		return nil
	}
	switch b := &blocks[len(blocks)-1]; {
	case b.Kind == KindParagraph && len(b.Sentences) > 0:
		return &b.Sentences[len(b.Sentences)-1]
	case b.Kind == KindList && len(b.Items) > 0:
		return lastWords(b.Items[len(b.Items)-1])
	}
	return nil
}

// EachBlock calls yield for each block, in order, and for those within it after it.
func EachBlock(blocks []Block, yield func(*Block)) {
	for i := range blocks {
		yield(&blocks[i])
		EachBlock(blocks[i].Blocks, yield)
		for _, item := range blocks[i].Items {
			EachBlock(item, yield)
		}
	}
}

// EachSentence calls yield for each sentence and cell of blocks, in order.
func EachSentence(blocks []Block, yield func(*Sentence)) {
	EachBlock(blocks, func(b *Block) {
		for i := range b.Sentences {
			yield(&b.Sentences[i])
		}
		for _, r := range b.Rows {
			for i := range r.Cells {
				yield(&r.Cells[i])
			}
		}
	})
}

// Cited returns the distinct citation ids of blocks, in order of appearance. In a list, items come after the text of
// their block.
func Cited(blocks []Block) (ids []string) {
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	EachBlock(blocks, func(b *Block) {
		add(b.Citation)
		own := Block{Sentences: b.Sentences, Rows: b.Rows}
		EachSentence([]Block{own}, func(s *Sentence) {
			for _, c := range s.Cites {
				add(c.ID)
			}
		})
	})
	return ids
}

// Cited returns the distinct citation ids of a report, in order of appearance.
func (r Report) Cited() []string {
	var all []Block
	for _, s := range r.Sections {
		all = append(all, s.Blocks...)
	}
	return Cited(all)
}

// Recite replaces citation ids in blocks.
func Recite(blocks []Block, now map[string]string) {
	if len(now) == 0 {
		return
	}
	EachBlock(blocks, func(b *Block) {
		if id, moved := now[b.Citation]; moved {
			b.Citation = id
		}
	})
	EachSentence(blocks, func(s *Sentence) {
		for i, c := range s.Cites {
			if id, moved := now[c.ID]; moved {
				s.Cites[i].ID = id
			}
		}
	})
}
