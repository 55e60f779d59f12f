package webpage

import (
	"iter"
	"strings"

	"golang.org/x/net/html"

	"nightdesk/pipeline/knowledge/extract/document"
)

// maxDepth is the maximum nesting of elements; deeper elements become children of the last one within the limit.
const maxDepth = 200

// node is an element or, with an empty tag, a text.
//
// This package has its own tree builder because html.Parse rejects pages nested deeper than 512 elements. As the
// standard requires, html.Parse also reopens unclosed formatting elements in every block, so its memory grows with the
// square of the input. The cost of this builder is proportional to the input.
type node struct {
	tag  string
	text string
	attr map[string]string // only attributes in kept; nil if there are none
	kids []*node

	furniture bool // surrounds the text of the page
	hidden    bool // set by markHidden
	inHead    bool // row of a table's head
}

// kept are the attributes used by extraction.
var kept = document.Set(`
	id name class role href style start type hidden aria-hidden property content itemprop itemtype encoding summary src
	srcset data-src alt rel datetime colspan rowspan color bgcolor epub:type http-equiv
`)

var void = document.Set("area base br col embed hr img input link meta param source track wbr")

// block are the elements that end a paragraph.
var block = document.Set(`
	address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
	footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre section
	summary table tbody td tfoot th thead tr ul
`)

// closedBy maps a start tag to the open elements that it closes and the elements that limit this search.
var closedBy = map[string]struct{ closes, scope map[string]bool }{
	"li":    {document.Set("li"), document.Set("ul ol menu dir table")},
	"dt":    {document.Set("dt dd"), document.Set("dl table")},
	"dd":    {document.Set("dt dd"), document.Set("dl table")},
	"td":    {document.Set("td th"), document.Set("table")},
	"th":    {document.Set("td th"), document.Set("table")},
	"tr":    {document.Set("tr"), document.Set("table")},
	"tbody": {document.Set("thead tbody tfoot"), document.Set("table")},
	"tfoot": {document.Set("thead tbody tfoot"), document.Set("table")},
}

// parseTree parses a page or fragment and marks what is hidden in it. It never fails.
func parseTree(page string) *node {
	root := elementsOf(page)
	markHidden(root)
	return root
}

func elementsOf(page string) *node {
	root := &node{tag: "html"}
	open := []*node{root}
	add := func(n *node) {
		top := open[len(open)-1]
		top.kids = append(top.kids, n)
	}
	closeTo := func(i int) { open = open[:i] }

	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return root
		case html.TextToken:
			if t := string(z.Text()); t != "" {
				add(&node{text: t})
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			n := &node{tag: string(name)}
			for more {
				var k, v []byte
				k, v, more = z.TagAttr()
				if key := string(k); kept[key] {
					if n.attr == nil {
						n.attr = map[string]string{}
					}
					if _, twice := n.attr[key]; !twice {
						n.attr[key] = string(v)
					}
				}
			}
			implied(n.tag, open, closeTo)
			add(n)
			if !void[n.tag] && len(open) < maxDepth {
				open = append(open, n)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := string(name)
			for i := len(open) - 1; i > 0; i-- {
				if open[i].tag == tag {
					closeTo(i)
					break
				}
				if open[i].tag == "table" && tag != "table" || !block[tag] && block[open[i].tag] {
					break // an end tag inside a table closes nothing outside it, and </b> closes no block
				}
			}
		}
	}
}

// implied closes elements that a start tag ends implicitly: <li> closes the last <li>, and a block closes the open <p>.
func implied(tag string, open []*node, closeTo func(int)) {
	rule, ok := closedBy[tag]
	if !ok && block[tag] {
		rule.closes, rule.scope, ok = paragraphTag, block, true
	}
	for i := len(open) - 1; ok && i > 0; i-- {
		switch {
		case rule.closes[open[i].tag]:
			closeTo(i)
			return
		case rule.scope[open[i].tag]:
			return
		}
	}
}

var paragraphTag = document.Set("p")

// all yields n and the elements below it, in document order.
func (n *node) all() iter.Seq[*node] {
	return func(yield func(*node) bool) { n.visit(yield) }
}

func (n *node) visit(yield func(*node) bool) bool {
	if n.tag != "" && !yield(n) {
		return false
	}
	for _, k := range n.kids {
		if !k.visit(yield) {
			return false
		}
	}
	return true
}

// find returns the first of these elements for which want returns true, or nil.
func (n *node) find(want func(*node) bool) *node {
	for k := range n.all() {
		if want(k) {
			return k
		}
	}
	return nil
}

// elements returns the children that are elements.
func (n *node) elements() (all []*node) {
	for _, k := range n.kids {
		if k.tag != "" {
			all = append(all, k)
		}
	}
	return all
}

// hasClass reports whether the element has this class, ignoring case.
func (n *node) hasClass(class string) bool { return hasWord(n.attr["class"], class) }

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}
