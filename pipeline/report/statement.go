package report

import (
	"slices"
	"strings"

	"nightdesk/pipeline/text"
)

// Statement is what a check looks at: a sentence, a row of a table, or an excerpt. It points into its blocks, so
// changes of their lists make it invalid.
type Statement struct {
	Head  string // of a table row: the header row
	Block *Block // that it stands in
	*Mark

	sentence *Sentence
	row      *Row
}

// Statements returns the statements of blocks, in order. Headings, captions and code are none; the header of a table is
// one only if it has citations.
func Statements(blocks []Block) (out []Statement) {
	EachStatement(blocks, func(s Statement) { out = append(out, s) })
	return out
}

// EachStatement calls yield for each statement of blocks, in order.
func EachStatement(blocks []Block, yield func(Statement)) {
	for i := range blocks {
		b := &blocks[i]
		switch b.Kind {
		case KindExcerpt:
			yield(Statement{Block: b, Mark: &b.Mark})
			continue
		case KindParagraph:
			for n := range b.Sentences {
				yield(Statement{Block: b, Mark: &b.Sentences[n].Mark, sentence: &b.Sentences[n]})
			}
		case KindTable:
			for n := range b.Rows {
				r := &b.Rows[n]
				s := Statement{Block: b, Mark: &r.Mark, row: r}
				if n > 0 {
					s.Head = b.Rows[0].text()
				}
				if n > 0 || len(s.IDs()) > 0 {
					yield(s)
				}
			}
		}
		EachStatement(b.Blocks, yield)
		for _, item := range b.Items {
			EachStatement(item, yield)
		}
	}
}

// shown returns the cells of a row as show shows them, separated by bars.
func (r Row) shown(show func(Sentence) string) string {
	cells := make([]string, len(r.Cells))
	for i, c := range r.Cells {
		cells[i] = show(c)
	}
	return strings.Join(cells, " | ")
}

func (r Row) text() string { return r.shown(func(c Sentence) string { return c.Text }) }

// Text returns the Markdown of a statement on one line, without citations; cells are separated by bars.
func (s Statement) Text() string { return s.Marked(func(string) string { return "" }) }

// Marked returns the text of a statement with its citations, as cite shows them; an excerpt has none in its text.
func (s Statement) Marked(cite func(id string) string) string {
	switch {
	case s.row != nil:
		return s.row.shown(func(c Sentence) string { return c.render(cite) })
	case s.sentence != nil:
		return s.sentence.render(cite)
	}
	return Plain(s.Block.Blocks)
}

// IsRow reports whether the statement is a row of a table.
func (s Statement) IsRow() bool { return s.row != nil }

// IDs returns the distinct citations of a statement.
func (s Statement) IDs() []string {
	switch {
	case s.row != nil:
		return Cited([]Block{{Rows: []Row{*s.row}}})
	case s.sentence != nil:
		return Cited([]Block{{Sentences: []Sentence{*s.sentence}}})
	}
	return []string{s.Block.Citation}
}

// Cite adds citations: before the full stop of a sentence; in a row, to the last cell that has words and no citation,
// else to the last one that has words.
func (s Statement) Cite(ids ...string) {
	to := s.sentence
	if s.row != nil {
		best := 0 // the first column names the row
		for i, cell := range s.row.Cells {
			better := best == 0 || len(cell.Cites) == 0 || len(s.row.Cells[best].Cites) > 0
			if i > 0 && better && strings.ContainsFunc(cell.Text, text.LetterOrDigit) {
				best = i
			}
		}
		if best < len(s.row.Cells) {
			to = &s.row.Cells[best]
		}
	}
	if to != nil {
		to.cite(ids)
	}
}

// Uncite removes citations from a statement.
func (s Statement) Uncite(ids ...string) {
	gone := func(c Cite) bool { return slices.Contains(ids, c.ID) }
	if s.sentence != nil {
		s.sentence.Cites = slices.DeleteFunc(s.sentence.Cites, gone)
	}
	if s.row != nil {
		for i := range s.row.Cells {
			s.row.Cells[i].Cites = slices.DeleteFunc(s.row.Cells[i].Cites, gone)
		}
	}
}

func (s *Sentence) cite(ids []string) {
	at := len(strings.TrimRight(s.Text, ".!?。！？"))
	for _, id := range ids {
		if !slices.ContainsFunc(s.Cites, func(c Cite) bool { return c.ID == id }) {
			s.Cites = append(s.Cites, Cite{id, at})
		}
	}
	slices.SortStableFunc(s.Cites, func(a, b Cite) int { return a.At - b.At })
}

// Edits collects what replaces statements. Its zero value replaces nothing.
type Edits struct {
	sentences map[*Sentence][]Sentence
	rows      map[*Row]bool // removed
}

// Replace puts sentences in the place of a statement; without any, the statement is removed. A row can only be removed.
func (e *Edits) Replace(s Statement, by ...Sentence) {
	if e.sentences == nil {
		e.sentences, e.rows = map[*Sentence][]Sentence{}, map[*Row]bool{}
	}
	if s.row != nil {
		e.rows[s.row] = len(by) == 0
	} else if s.sentence != nil {
		e.sentences[s.sentence] = by
	}
}

// Apply returns the blocks that were edited, without what has no content any more: items, paragraphs, tables without
// rows, and headings without text below them.
func (e Edits) Apply(blocks []Block) (left []Block) {
	for _, b := range blocks {
		if b.Kind == KindParagraph {
			var kept []Sentence
			for i := range b.Sentences {
				if by, edited := e.sentences[&b.Sentences[i]]; edited {
					kept = append(kept, by...)
				} else {
					kept = append(kept, b.Sentences[i])
				}
			}
			b.Sentences = kept
		}
		var rows []Row
		for i := range b.Rows {
			if !e.rows[&b.Rows[i]] {
				rows = append(rows, b.Rows[i])
			}
		}
		var items [][]Block
		for _, item := range b.Items {
			if item = e.Apply(item); len(item) > 0 {
				items = append(items, item)
			}
		}
		b.Rows, b.Items, b.Blocks = rows, items, e.Apply(b.Blocks)
		if !b.empty() {
			left = append(left, b)
		}
	}
	return withoutEmptyHeadings(left)
}

func (b Block) empty() bool {
	switch b.Kind {
	case KindParagraph, KindHeading:
		return len(b.Sentences) == 0
	case KindList:
		return len(b.Items) == 0
	case KindTable:
		return len(b.Rows) < 2
	case KindQuote, KindExcerpt:
		return len(b.Blocks) == 0
	}
	return false
}

// withoutEmptyHeadings removes headings that are followed by nothing or by a heading of the same or a higher level.
func withoutEmptyHeadings(blocks []Block) (left []Block) {
	for i, b := range blocks {
		if b.Kind == KindHeading {
			if i+1 == len(blocks) || blocks[i+1].Kind == KindHeading && blocks[i+1].Level <= b.Level {
				continue
			}
		}
		left = append(left, b)
	}
	return left
}
