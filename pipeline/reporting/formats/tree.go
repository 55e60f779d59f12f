package formats

import (
	"slices"
	"strings"
)

// kind of a block.
type kind int

const (
	paragraph kind = iota
	heading
	code
	quote
	list
	table
	rule
)

// block is one block of a report.
type block struct {
	kind    kind
	level   int    // of a heading, 1 to 6
	anchor  string // of a heading, or of the reference that a paragraph is
	runs    []run  // of paragraphs and headings
	text    string // of code
	ordered bool   // of a list
	start   int    // number of an ordered list's first item
	items   [][]block
	rows    []row
	blocks  []block // of a quote
}

// row is one row of a table; the first one has the headings.
type row []cell

type cell struct {
	runs  []run
	right bool
}

// style of text.
type style uint8

const (
	bold style = 1 << iota
	italic
	struck
	fixed  // code
	marked // a verdict
)

// run is a piece of text of one style.
type run struct {
	text   string
	style  style
	link   string // safe address, or "#" and an anchor of the report; "" = none
	number int    // of a citation, from 1; 0 = it is none
	cited  string // anchor of the reference that a citation leads to
	broken bool   // a line break follows
	figure *figure

	checked int // Check.Number
	news    bool
	verdict Verdict
	passage Passage // that the citation stands on; of no citation: zero
}

// figure is a picture.
type figure struct {
	body  []byte
	svg   bool
	title string
}

// document is a report that was read.
type document struct {
	Report
	blocks []block
	cites  map[string][]int // by anchor of a reference, the numbers of its citations
}

// eachBlock calls yield for all blocks, in order.
func eachBlock(blocks []block, yield func(*block)) {
	for i := range blocks {
		yield(&blocks[i])
		for _, item := range blocks[i].items {
			eachBlock(item, yield)
		}
		eachBlock(blocks[i].blocks, yield)
	}
}

// ordered takes out the characters that turn the order of others: a title could make what follows it look like
// something else. The marks that right-to-left text needs stay.
var ordered = strings.NewReplacer("\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "", "\u202e", "", "\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")

// plainText joins the text of runs.
func plainText(runs []run) string {
	var out []byte
	for _, r := range runs {
		out = append(out, r.text...)
		if r.broken {
			out = append(out, ' ')
		}
	}
	return string(out)
}

// anchors returns the places of a report that links may lead to.
func (d *document) anchors() map[string]bool {
	found := map[string]bool{}
	eachBlock(d.blocks, func(b *block) {
		if b.anchor != "" {
			found[b.anchor] = true
		}
	})
	return found
}

// headings returns those of one level, in order.
func (d *document) headings(level int) []block {
	return slices.DeleteFunc(slices.Clone(d.blocks), func(b block) bool { return b.kind != heading || b.level != level })
}
