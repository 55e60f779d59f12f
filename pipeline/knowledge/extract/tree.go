package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// maxDepth bounds the nesting of elements; what is deeper hangs below the last one that fits.
const maxDepth = 200

// node is an element or, with an empty tag, a text.
//
// The tree is our own because html.Parse refuses pages that nest deeper than 512 elements and, as the standard asks,
// opens unclosed formatting elements again in every block: memory then grows with the square of the input. This
// builder does work in proportion to the input, whatever is in it.
type node struct {
	tag  string
	text string
	attr map[string]string // only those of kept; nil = none
	kids []*node

	furniture bool // surrounds the text of a page
}

// kept are the attributes that extraction looks at.
var kept = map[string]bool{
	"id": true, "name": true, "class": true, "role": true, "href": true, "style": true, "start": true, "type": true,
	"hidden": true, "aria-hidden": true, "property": true, "content": true, "itemprop": true,
	"itemtype": true, "encoding": true, "summary": true,
	"src": true, "srcset": true, "data-src": true, "alt": true, "rel": true,
}

var void = set("area base br col embed hr img input link meta param source track wbr")

// block are the elements that end a paragraph.
var block = set(`address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption
	figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre section
	summary table tbody td tfoot th thead tr ul`)

// closedBy says which open elements a start tag closes, and which elements hide those that lie further out.
var closedBy = map[string]struct{ closes, scope map[string]bool }{
	"li":    {set("li"), set("ul ol menu dir table")},
	"dt":    {set("dt dd"), set("dl table")},
	"dd":    {set("dt dd"), set("dl table")},
	"td":    {set("td th"), set("table")},
	"th":    {set("td th"), set("table")},
	"tr":    {set("tr"), set("table")},
	"tbody": {set("thead tbody tfoot"), set("table")},
	"tfoot": {set("thead tbody tfoot"), set("table")},
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// parseTree reads a page or a fragment. It never fails: every text has a tree.
func parseTree(page string) *node {
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
					break // an end tag inside a table ends nothing outside, </b> ends no block
				}
			}
		}
	}
}

// implied closes what a start tag ends without saying so: <li> the last <li>, a block the open <p>.
func implied(tag string, open []*node, closeTo func(int)) {
	if rule, ok := closedBy[tag]; ok {
		for i := len(open) - 1; i > 0; i-- {
			if rule.closes[open[i].tag] {
				closeTo(i)
				return
			}
			if rule.scope[open[i].tag] {
				return
			}
		}
		return
	}
	if !block[tag] {
		return
	}
	for i := len(open) - 1; i > 0; i-- {
		if open[i].tag == "p" {
			closeTo(i)
			return
		}
		if block[open[i].tag] {
			return
		}
	}
}

// find returns the first element in document order for which want holds, or nil.
func (n *node) find(want func(*node) bool) *node {
	if n.tag != "" && want(n) {
		return n
	}
	for _, k := range n.kids {
		if k.tag == "" {
			continue
		}
		if f := k.find(want); f != nil {
			return f
		}
	}
	return nil
}

// hasClass reports whether the element has this class; case is ignored.
func (n *node) hasClass(class string) bool {
	for c := range strings.FieldsSeq(n.attr["class"]) {
		if strings.EqualFold(c, class) {
			return true
		}
	}
	return false
}
