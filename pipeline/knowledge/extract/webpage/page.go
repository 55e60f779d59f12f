package webpage

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
)

// contentRoot returns the element that holds the main content of a page.
func contentRoot(tree *node) *node {
	body := tree.find(func(n *node) bool { return n.tag == "body" })
	if body == nil || textSize(body) == 0 {
		body = tree
	}
	whole := textSize(body)
	for _, want := range []func(*node) bool{
		isContent,
		func(n *node) bool { return n.tag == "article" },
		func(n *node) bool { return n.tag == "div" && (n.hasClass("body") || n.hasClass("document")) },
		func(n *node) bool { return n.tag == "div" && (n.hasClass("contents") || n.hasClass("markdown-body")) },
		func(n *node) bool {
			id := n.attr["id"]
			return n.tag == "div" && (id == "mw-content-text" || id == "content" || id == "main-content")
		},
	} {
		var found []*node
		for n := range body.all() {
			if want(n) {
				found = append(found, n)
			}
		}
		// Several articles are a list of articles, so the page is their common parent. A part with little of the text is a
		// teaser, whatever its name.
		if len(found) == 1 && textSize(found[0])*4 >= whole {
			return found[0]
		}
	}
	return proseRoot(body)
}

const (
	minSentence = 80 // minimum bytes of a paragraph that counts as prose
	maxBoxes    = 25 // maximum depth of the descent, because each step walks the page
)

// proseRoot finds the content of a page that does not mark it. From the body, it descends while one box contains nearly
// all paragraphs, most of the text, and the heading. It thereby excludes menus, teasers and advertisements.
func proseRoot(body *node) *node {
	root := body
	heading := body.find(func(n *node) bool { return n.tag == "h1" && !isNoise(n) })
	prose, text := proseSize(root), textSize(root)
	for n := 0; n < maxBoxes && prose >= 5*minSentence; n++ {
		var next *node
		for _, k := range root.kids {
			box := k.tag == "div" || k.tag == "section" || k.tag == "center"
			if box && !isNoise(k) && proseSize(k)*10 >= prose*9 {
				next = k
			}
		}
		if next == nil {
			break
		}
		size := textSize(next)
		if size*10 < text*6 || heading != nil && next.find(func(n *node) bool { return n == heading }) == nil {
			break
		}
		root, text = next, size
	}
	return root
}

// proseSize returns the bytes of text in paragraphs of at least minSentence bytes.
func proseSize(n *node) int {
	if n.tag == "" || isNoise(n) {
		return 0
	}
	if n.tag == "p" {
		if size := textSize(n); size >= minSentence {
			return size
		}
		return 0
	}
	size := 0
	for _, k := range n.kids {
		size += proseSize(k)
	}
	return size
}

func isContent(n *node) bool { return n.tag == "main" || strings.EqualFold(n.attr["role"], "main") }

// pageTitle returns the title in the page's metadata, else its only top-level heading, else the window title without
// the site name. It ignores several top-level headings, because each belongs to a part. Without a title, it returns "".
func pageTitle(tree, root *node) string {
	if t := document.Clean(firstMeta(tree, "og:title", "citation_title", "dc.title", "dcterms.title")); t != "" {
		return t
	}
	first := func(n *node) bool { return n.tag == "h1" }
	top := textsOf(root, first)
	if len(top) == 0 {
		top = textsOf(tree, first)
	}
	if len(top) == 0 {
		top = textsOf(tree, func(n *node) bool { return n.tag == "div" && n.hasClass("title") })
	}
	if len(top) == 1 {
		return top[0]
	}
	t := tree.find(func(n *node) bool { return n.tag == "title" })
	title := ""
	if t != nil {
		title = inlineText(t)
	}
	for _, separator := range []string{" | ", " — ", " – ", " · ", " :: ", " - "} {
		if i := strings.LastIndex(title, separator); i >= 3 {
			return strings.TrimSpace(title[:i])
		}
	}
	return title
}

// maxTitles limits the elements that are examined for a title. The search ends when two have text.
const maxTitles = 5

// textsOf returns the texts of the first elements below n for which want returns true, at most two.
func textsOf(n *node, want func(*node) bool) []string {
	var texts []string
	seen := 0
	for k := range n.all() {
		if !want(k) {
			continue
		}
		if t := strings.TrimSpace(strings.TrimSuffix(inlineText(k), "¶")); t != "" {
			texts = append(texts, t)
		}
		if seen++; seen == maxTitles || len(texts) == 2 {
			break
		}
	}
	return texts
}

// pageStates returns the page's metadata: meta elements, then linked data. The date is the publication date, else the
// modification date.
func pageStates(tree, root *node) document.Metadata {
	s := document.Metadata{Title: pageTitle(tree, root)}
	for _, name := range []string{"author", "citation_author", "article:author", "dc.creator", "dcterms.creator"} {
		for _, value := range metas(tree, name) {
			s.AddAuthor(value)
		}
		if len(s.Authors) > 0 {
			break
		}
	}
	s.Publisher = document.Clean(firstMeta(tree, "citation_journal_title", "og:site_name", "citation_publisher",
		"dc.publisher", "dcterms.publisher", "publisher"))
	for _, name := range []string{"article:published_time", "datepublished", "date", "dc.date", "dcterms.date",
		"dcterms.created", "dcterms.issued", "citation_publication_date", "citation_date"} {
		s.Date = cmp.Or(s.Date, document.ParseDate(firstMeta(tree, name)))
	}
	s.Or(linkedStates(tree))
	for _, name := range []string{"article:modified_time", "datemodified", "last-modified", "og:updated_time"} {
		s.Date = cmp.Or(s.Date, document.ParseDate(firstMeta(tree, name)))
	}
	return s
}

// firstMeta returns the content of the first meta element with one of these names, the first name first, or "".
func firstMeta(tree *node, names ...string) string {
	for _, name := range names {
		if all := metas(tree, name); len(all) > 0 {
			return all[0]
		}
	}
	return ""
}

// metas returns the contents of the meta elements with this property, name or itemprop, at most document.MaxNames.
func metas(tree *node, name string) (all []string) {
	for n := range tree.all() {
		if n.tag != "meta" || n.attr["content"] == "" || len(all) == document.MaxNames {
			continue
		}
		for _, attribute := range []string{"property", "name", "itemprop"} {
			if strings.EqualFold(n.attr[attribute], name) {
				all = append(all, n.attr["content"])
				break
			}
		}
	}
	return all
}

// commentTitle returns the title from a JSON object in the first comment of a page, as some generators write it:
// <!--{"Title": "The Harbour Guide"}-->. It returns "" if there is none.
func commentTitle(page string) string {
	comment, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(page, "\ufeff")), "<!--")
	if !ok {
		return ""
	}
	comment, _, ok = strings.Cut(comment, "-->")
	var f struct{ Title string }
	if !ok || json.Unmarshal([]byte(comment), &f) != nil {
		return ""
	}
	return document.Clean(f.Title)
}

// refresh matches the content of a refresh that begins at once: "0; url=/pier".
var refresh = regexp.MustCompile(`(?i)^\s*(\d{1,2})\s*[;,]\s*url\s*=\s*["']?([^"']+)`)

// ForwardsTo returns the address to which a page forwards its readers without a script, as written, or "".
func ForwardsTo(page string) string {
	if !strings.Contains(strings.ToLower(page), "refresh") {
		return ""
	}
	for n := range elementsOf(page).all() {
		if n.tag == "meta" && strings.EqualFold(n.attr["http-equiv"], "refresh") {
			if m := refresh.FindStringSubmatch(n.attr["content"]); m != nil {
				return strings.TrimSpace(m[2])
			}
		}
	}
	return ""
}
