package formats

import (
	"slices"
	"strings"
)

// kind is the kind of a block.
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
	level   int    // heading level, 1 to 6
	anchor  string // anchor of a heading, or of a reference
	runs    []run  // text of paragraphs and headings
	text    string // code
	ordered bool   // ordered list
	start   int    // number of the first item of an ordered list
	items   [][]block
	rows    []row
	blocks  []block // of a quote
}

// row is one row of a table; the first row has the headings.
type row []cell

type cell struct {
	runs  []run
	right bool
}

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
	text   string
	style  style
	link   string // safe address, or "#" and an anchor of the report; "": none
	number int    // number of the citation, from 1; 0: not a citation
	cited  string // anchor of the cited reference
	broken bool   // followed by a line break
	figure *figure

	checked int // Check.Number
	news    bool
	verdict Verdict
	passage Passage // passage that the citation is based on
}

// figure is a picture.
type figure struct {
	body  []byte
	svg   bool
	title string
}

// document is a parsed report.
type document struct {
	Report
	blocks []block
	cites  map[string][]int // numbers of the citations of each reference, by anchor
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

// ordered removes characters that change the direction of following text, because a title could disguise that text. The
// marks that right-to-left text needs are kept.
var ordered = strings.NewReplacer("\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "", "\u202e", "",
	"\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")

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

// anchors returns the anchors of a report.
func (d *document) anchors() map[string]bool {
	found := map[string]bool{}
	eachBlock(d.blocks, func(b *block) {
		if b.anchor != "" {
			found[b.anchor] = true
		}
	})
	return found
}

// headings returns the top-level headings of a level, in order.
func (d *document) headings(level int) []block {
	return slices.DeleteFunc(slices.Clone(d.blocks), func(b block) bool { return b.kind != heading || b.level != level })
}
