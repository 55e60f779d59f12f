package formats

import (
	"fmt"
	"regexp"
	"strings"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/prompts"
)

// style is a set of text styles.
type style uint8

const (
	bold style = 1 << iota
	italic
	struck
	fixed  // code
	marked // verdict
)

// run is a piece of text with one style.
type run struct {
	text    string
	style   style
	link    string // safe address; "": none
	cited   string // anchor of the cited reference; "": not a citation
	number  int    // of the citation, from 1
	passage Passage
	report.Mark
}

// figure is a picture.
type figure struct {
	body  []byte
	svg   bool
	title string
}

// document is a report that is being rendered.
type document struct {
	Report
	texts   *prompts.Texts
	labels  map[string]string // of citations, by id
	known   map[string]bool   // anchors of references
	cites   map[string][]int  // numbers of the citations of each reference, by anchor
	number  int               // of citations so far
	figures int               // bytes of figures shown
}

// maxCells is the maximum number of table cells in a report. Short rows are filled to the width of their table.
const maxCells = 100_000

// newDocument returns a document of a report that is not too large.
func newDocument(r Report) (*document, error) {
	if size := len(r.Tree.Body(nil)); size > MaxMarkdown {
		return nil, fmt.Errorf("%w: it has %d bytes, but at most %d are allowed", ErrTooLarge, size, MaxMarkdown)
	}
	d := &document{Report: r, texts: prompts.TextsIn(r.Language), labels: r.Tree.Labels(),
		known: map[string]bool{}, cites: map[string][]int{}}
	cells := 0
	for _, s := range r.Tree.Sections {
		report.EachBlock(s.Blocks, func(b *report.Block) { cells += columnsOf(*b) * len(b.Rows) })
	}
	if cells > maxCells {
		return nil, fmt.Errorf("%w: its tables have %d cells, but at most %d are allowed", ErrTooLarge, cells, maxCells)
	}
	for _, ref := range r.Tree.References {
		for _, e := range ref.Entries {
			d.known[e.Anchor()] = true
		}
	}
	return d, nil
}

// columnsOf returns the width of a table in cells.
func columnsOf(table report.Block) (n int) {
	for _, r := range table.Rows {
		n = max(n, len(r.Cells))
	}
	return n
}

// checks returns the verdicts that the report shows, and whether a statement is marked as new.
func (d *document) checks() (verdicts map[string]bool, news bool) {
	verdicts = map[string]bool{}
	for _, s := range d.Tree.Sections {
		report.EachStatement(s.Blocks, func(s report.Statement) {
			news = news || s.New
			if s.Check > 0 && s.State != report.StateQuoted {
				verdicts[s.Verdict] = true
			}
		})
	}
	return verdicts, news
}

// sentences returns the runs of the sentences of a paragraph or heading.
func (d *document) sentences(list []report.Sentence) (out []run) {
	for i, s := range list {
		if i > 0 {
			if space := report.Between(list[i-1].Text, s.Text); space != "" {
				out = append(out, run{text: space})
			}
		}
		out = append(out, d.sentence(s, s.Mark)...)
	}
	return out
}

// sentence returns the runs of a sentence with a mark. A citation gets the passage that is most like the sentence.
func (d *document) sentence(s report.Sentence, mark report.Mark) []run {
	runs := d.inline(s.Markdown(func(id string) string {
		e := report.Entry{Label: d.labels[id]}
		if e.Label == "" {
			return ""
		}
		return "[\\[" + report.Escape(e.Label) + "\\]](#" + e.Anchor() + ")"
	}))
	for i := range runs {
		x := &runs[i]
		if x.cited == "" {
			x.Mark = mark
			continue
		}
		d.number++
		x.number, x.passage = d.number, d.Notes[x.cited].passage(s.Text)
		d.cites[x.cited] = append(d.cites[x.cited], d.number)
	}
	if mark.State == report.StateMarked {
		runs = append(runs, run{text: " "}, run{text: "[" + d.texts.Unsupported.String() + "]", style: marked})
	}
	return runs
}

// cells returns the runs of each cell of a row; the mark of the row is shown in its last cell.
func (d *document) cells(r report.Row) [][]run {
	out := make([][]run, len(r.Cells))
	for i, c := range r.Cells {
		mark := r.Mark
		if i < len(r.Cells)-1 {
			mark.State = ""
		}
		c.Text, c.Cites = barsIn(c)
		out[i] = d.sentence(c, mark)
	}
	return out
}

// barsIn returns the text and citations of a cell with its bars unescaped, for reading it outside of its table.
func barsIn(c report.Sentence) (string, []report.Cite) {
	if !strings.Contains(c.Text, `\|`) {
		return c.Text, c.Cites
	}
	cites := make([]report.Cite, len(c.Cites))
	for i, at := range c.Cites {
		at.At -= strings.Count(c.Text[:at.At], `\|`)
		cites[i] = at
	}
	return strings.ReplaceAll(c.Text, `\|`, "|"), cites
}

// excerpt returns the blocks of an excerpt, with its citation and its mark.
func excerpt(b report.Block) []report.Block {
	blocks := b.Quoted()
	report.EachSentence(blocks, func(s *report.Sentence) { s.Mark = b.Mark })
	return blocks
}

// picture returns a figure of the run's data; nil if there is none or MaxFigures is reached.
func (d *document) picture(b report.Block) *figure {
	body := d.Figures[b.Picture]
	if len(body) == 0 || d.figures+len(body) > MaxFigures {
		return nil
	}
	d.figures += len(body)
	return &figure{body: body, svg: strings.HasSuffix(b.Picture, ".svg"), title: b.Title}
}

// caption returns the runs below a figure.
func (d *document) caption(b report.Block) []run {
	var out []run
	for _, s := range b.Sentences {
		at := report.Cite{ID: b.Citation, At: len(s.Text)}
		s.Cites = append(append([]report.Cite{}, s.Cites...), at)
		for _, x := range d.sentence(s, report.Mark{}) {
			x.style |= italic
			out = append(out, x)
		}
	}
	return out
}

// ordered removes characters that change the direction of following text, because a title could disguise that text. The
// marks that right-to-left text needs are kept.
func ordered(s string) string { return turning.ReplaceAllString(s, "") }

var turning = regexp.MustCompile("[" + markdown.Turning + "]")
