package extract

import (
	"strings"

	"golang.org/x/net/html"
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
}

// kept are the attributes used by extraction.
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

// closedBy maps a start tag to the open elements that it closes and the elements that limit this search.
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

// parseTree parses a page or fragment. It never fails.
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
					break // an end tag inside a table closes nothing outside it, and </b> closes no block
				}
			}
		}
	}
}

// implied closes elements that a start tag ends implicitly: <li> closes the last <li>, and a block closes the open <p>.
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

// find returns the first element in document order for which want returns true, or nil.
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

// hasClass reports whether the element has this class, ignoring case.
func (n *node) hasClass(class string) bool {
	for c := range strings.FieldsSeq(n.attr["class"]) {
		if strings.EqualFold(c, class) {
			return true
		}
	}
	return false
}
