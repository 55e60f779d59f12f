package webpage

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/knowledge/extract/document"
)

// Furniture is content that surrounds the text of a page. It is recognized by attributes (ARIA, microdata), by words in
// class names, and by shape, which is the share of links in the text (Kohlschütter, Fankhauser
// and Nejdl: Boilerplate Detection using Shallow Text Features, 2010). These rules complement isNoise, which needs no
// context.

// furnitureWords are words in class names, each of which marks an element as furniture.
var furnitureWords = document.Set(`
	ad ads adslot adspot advert advertisement advertising announcement banner bio breadcrumb breadcrumbs colophon
	consent cookie cookies copyright crumb crumbs cta discuss disqus donate donation footer gdpr modal nav navbar
	navigation newsletter newsletters outbrain overlay pager pagination paging paywall popular popup promo promoted
	promotion rail recirc recirculation recommendation recommendations recommended related relatedposts respond share
	sharebar sharedaddy sharing sidebar signup social sponsor sponsored subscribe subscription subscriptions taboola
	tags tagcloud taxonomy teaser teasers ticker toolbar topbar trending upsell viewed widget widgets
`)

// furniturePairs are words that mark furniture only in combination.
var furniturePairs = [][2]string{
	{"author", "bio"}, {"author", "box"}, {"author", "card"}, {"author", "description"}, {"author", "info"},
	{"about", "author"},
	{"most", "read"}, {"read", "more"}, {"read", "next"}, {"next", "prev"}, {"next", "previous"}, {"site", "header"},
	{"cat", "links"}, {"post", "preview"}, {"print", "hidden"}, {"print", "no"}, {"print", "none"},
}

// commentWords are words in class names and in the microdata of reader comments.
var commentWords = document.Set("comment comments commentlist response responses disqus webmentions usercomments")

// microdata are microdata types and properties that mark furniture.
var microdata = document.Set("wpheader wpfooter wpsidebar wpadblock sitenavigationelement")

// furnishable are the elements that names or shape can mark as furniture.
var furnishable = document.Set("div section aside ul ol dl li p header footer figure form nav article details table")

// Size limits for furniture.
const (
	teaserText   = 500 // maximum bytes of text in one teaser
	linkedText   = 400 // maximum bytes of text in a box of links
	remainingMin = 600 // bytes of text below which a page may be a list of teasers or a discussion; see markFurniture
)

// shape holds the text sizes of an element, in bytes.
type shape struct {
	text, linked, heading int
	links                 int // number of links to other pages
}

// furnisher marks the furniture below the root of a page.
type furnisher struct {
	whole int   // bytes of text below the root
	title *node // the first heading
	shape map[*node]shape
	used  map[string]int // bytes of text in elements named with a furniture word, excluding large elements
}

// markFurniture marks the furniture below root. If almost no text would remain, it removes all marks, because such a
// page is a list of teasers or a discussion.
func markFurniture(root *node) {
	f := &furnisher{shape: map[*node]shape{}, used: map[string]int{}}
	f.title = root.find(func(n *node) bool { return n.tag == "h1" && !isNoise(n) })
	f.whole = f.measure(root, false).text
	for _, k := range root.kids {
		f.count(k, nil)
	}
	for _, k := range root.kids {
		f.mark(k)
	}
	if left := f.measure(root, true).text; left < remainingMin && left*4 < f.whole {
		for n := range root.all() {
			n.furniture = false
		}
	}
}

// measure records the shapes of n and the elements below it. If unmarked is true, it skips marked elements.
func (f *furnisher) measure(n *node, unmarked bool) shape {
	if n.tag == "" {
		return shape{text: len(strings.TrimSpace(n.text))}
	}
	if isNoise(n) || unmarked && n.furniture {
		return shape{}
	}
	var s shape
	for _, k := range n.kids {
		part := f.measure(k, unmarked)
		s.text += part.text
		s.linked += part.linked
		s.heading += part.heading
		s.links += part.links
	}
	switch {
	case outside(n):
		s.linked = s.text
		s.links++
	case headingTag(n.tag):
		s.heading = s.text
	}
	if furnishable[n.tag] {
		f.shape[n] = s
	}
	return s
}

// count adds up the text per furniture word. A word that covers over a third of the page has another meaning there.
func (f *furnisher) count(n *node, within []string) {
	if n.tag == "" || isNoise(n) {
		return
	}
	if s := f.shape[n]; s.text > 0 && !f.large(s.text) {
		for _, word := range f.words(n) {
			if !slices.Contains(within, word) {
				f.used[word] += s.text
				within = append(slices.Clone(within), word)
			}
		}
	}
	for _, k := range n.kids {
		f.count(k, within)
	}
}

// large reports whether size bytes are too large a share of the page for furniture.
func (f *furnisher) large(size int) bool { return size*3 > f.whole }

// mark marks n or the furniture below it and reports whether it marked anything.
func (f *furnisher) mark(n *node) bool {
	if n.tag == "" || n.tag == "pre" || n.tag == "code" || isNoise(n) {
		return false
	}
	if furnishable[n.tag] && f.isFurniture(n) && !f.titled(n) {
		n.furniture = true
		return true
	}
	marked := false
	for _, k := range n.kids {
		marked = f.mark(k) || marked
	}
	if marked && boxed[n.tag] {
		n.furniture = f.empty(n)
	}
	return marked
}

// titled reports whether an element contains the title of the page.
func (f *furnisher) titled(n *node) bool {
	return f.title != nil && n.find(func(k *node) bool { return k == f.title }) != nil
}

// boxed are the elements that are marked when all of their content is marked.
var boxed = document.Set("div section aside ul ol li header footer")

// empty reports whether only headings remain in a box.
func (f *furnisher) empty(n *node) bool {
	for _, k := range n.kids {
		switch {
		case k == f.title, k.tag == "" && strings.TrimSpace(k.text) != "":
			return false
		case k.tag != "" && !headingTag(k.tag) && !isNoise(k) && !f.empty(k):
			return false
		}
	}
	return true
}

func (f *furnisher) isFurniture(n *node) bool {
	s := f.shape[n]
	switch {
	case isAdmonition(n): // its class names may contain furniture words, because Sphinx derives them from titles
		return false
	case isComment(n):
		return true
	case f.large(s.text):
		return false
	}
	return f.named(n) || isTeaser(n, s) || isLinkBox(n, s)
}

// isComment reports whether an element is a reader comment or a list of them.
func isComment(n *node) bool {
	for _, kind := range microdataOf(n) {
		if commentWords[kind] {
			return true
		}
	}
	number, ok := strings.CutPrefix(strings.ToLower(n.attr["id"]), "comment-")
	if ok && strings.Trim(number, "0123456789") == "" {
		return true
	}
	for class := range strings.FieldsSeq(n.attr["class"]) {
		if slices.ContainsFunc(nameWords(class), func(w string) bool { return commentWords[w] }) {
			return true
		}
	}
	return false
}

// named reports whether attributes of an element mark it as furniture.
func (f *furnisher) named(n *node) bool {
	return slices.ContainsFunc(microdataOf(n), func(kind string) bool { return microdata[kind] }) ||
		slices.ContainsFunc(f.words(n), func(word string) bool { return !f.large(f.used[word]) })
}

// words returns the furniture words and pairs in the class names of an element, and in its id unless it looks like the
// anchor of a section.
func (f *furnisher) words(n *node) (found []string) {
	names := strings.Fields(n.attr["class"])
	if id := n.attr["id"]; len(nameWords(id)) <= 2 && n.tag != "section" && n.tag != "p" && f.shape[n].heading == 0 {
		names = append(names, id)
	}
	for _, name := range names {
		words := nameWords(name)
		for _, w := range words {
			if furnitureWords[w] {
				found = append(found, w)
			}
		}
		for _, p := range furniturePairs {
			if slices.Contains(words, p[0]) && slices.Contains(words, p[1]) {
				found = append(found, p[0]+" "+p[1])
			}
		}
	}
	return found
}

// nameWords splits a class name or id into lower-case words: post__shareBar into post, share and bar.
func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(camelCase.ReplaceAllString(name, "$1 $2")), func(r rune) bool {
		return !unicode.IsLetter(r)
	})
}

var camelCase = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// microdataOf returns the microdata types and properties of an element, in lower case.
func microdataOf(n *node) (kinds []string) {
	for kind := range strings.FieldsSeq(strings.ToLower(n.attr["itemprop"] + " " + n.attr["itemtype"])) {
		kinds = append(kinds, kind[strings.LastIndexByte(kind, '/')+1:])
	}
	return kinds
}

// isTeaser reports whether an element links to another text: its whole heading is a link.
func isTeaser(n *node, s shape) bool {
	if n.tag == "table" || n.tag == "p" {
		return false
	}
	if s.text > teaserText || s.links == 0 || s.heading == 0 {
		return false
	}
	headings, linked, paragraphs := 0, 0, 0
	var look func(n *node, link bool)
	look = func(n *node, link bool) {
		link = link || outside(n)
		if n.tag == "p" {
			paragraphs++
		}
		if headingTag(n.tag) {
			headings++
			if link || n.find(func(k *node) bool { return outside(k) && textSize(k) == textSize(n) }) != nil {
				linked++
			}
			return
		}
		for _, k := range n.kids {
			if k.tag != "" {
				look(k, link)
			}
		}
	}
	look(n, false)
	return headings > 0 && headings == linked && paragraphs <= headings
}

// outside reports whether an element links to another page. Headings in manuals often link to their own section.
func outside(n *node) bool {
	return n.tag == "a" && n.attr["href"] != "" && !strings.Contains(n.attr["href"], "#")
}

// isLinkBox reports whether an element contains mostly links to other pages.
func isLinkBox(n *node, s shape) bool {
	switch n.tag {
	case "div", "section", "aside", "header", "footer":
		mostlyLinks := s.links > 0 && s.text <= linkedText && s.linked*10 >= s.text*8
		return mostlyLinks && s.heading == 0 && n.find(func(k *node) bool { return k.tag == "p" }) == nil
	}
	return false
}
