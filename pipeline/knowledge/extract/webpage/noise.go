package webpage

import (
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
)

// unseen are elements whose content is never text of the page.
var unseen = document.Set(`
	script style noscript template head title svg canvas iframe object embed applet audio video map select button input
	textarea datalist nav noframes noembed del s strike rp
`)

// furniture are class names of content around the text of a page: site navigation, permalinks, link bars and
// advertisements. The names are those of documentation generators (Sphinx, DocBook, Doxygen, MediaWiki, Hugo,
// Docusaurus) and common themes.
var furniture = document.Set(`
	nav navbar navigation navheader navfooter nav-links sphinxsidebar sphinxsidebarwrapper related breadcrumb
	breadcrumbs headerlink header-anchor heading-anchor anchor-link permalink anchorjs-link hash-link toc
	table-of-contents toctree-wrapper localtoc skip-link skiplink site-header site-footer page-footer footer masthead
	menu sidebar-nav side-nav cookie-banner cookie-consent cookie-notice ad ads advert advertisement sponsored share
	social-share mw-editsection printfooter catlinks navbox noprint pagination prev-next prevnext pager edit-page-link
	edit-this-page feedback visually-hidden sr-only mw-jump-link tabs-nav dynheader indexdiv indextable genindextable
	directory-toc genindex-jumpbox line-numbers linenos
`)

var furnitureRole = document.Set("navigation banner contentinfo search complementary menu menubar toolbar tablist")

// permalinks are the texts of links to the heading that they stand in.
var permalinks = document.Set("¶ # §")

// isNoise reports whether an element is not part of the text, regardless of context.
func isNoise(n *node) bool {
	switch {
	case n.hidden || n.furniture:
		return true
	case writtenFormula(n) != "":
		return false
	case unseen[n.tag]:
		return true
	}
	switch n.tag {
	case "body", "html", "main", "article":
		return false
	}
	if n.attr == nil {
		return false
	}
	if furnitureRole[strings.ToLower(n.attr["role"])] || n.attr["aria-hidden"] == "true" && n.tag != "math" {
		return true
	}
	for c := range strings.FieldsSeq(n.attr["class"]) {
		if furniture[strings.ToLower(c)] {
			return true
		}
	}
	switch strings.ToLower(n.attr["id"]) {
	case "nav", "navbar", "navigation", "sidebar", "toc", "footer", "breadcrumbs", "nav-path", "side-nav":
		return n.tag != "a" && n.tag != "span" && !headingTag(n.tag)
	}
	return n.tag == "a" && len(n.kids) == 1 && permalinks[strings.TrimSpace(n.kids[0].text)]
}

func headingTag(tag string) bool {
	return len(tag) == 2 && tag[0] == 'h' && tag[1] >= '1' && tag[1] <= '6'
}

// skipped extends isNoise with rules that depend on context.
func (w *walker) skipped(n *node) bool {
	if isNoise(n) {
		return true
	}
	switch n.tag {
	case "header", "aside":
		return !w.inArticle
	case "footer":
		return n.find(isQuoteSource) == nil
	case "form": // some content management systems wrap the whole page in a form
		return textSize(n) < 500
	}
	return false
}

func isQuoteSource(n *node) bool { return n.tag == "cite" || n.tag == "blockquote" }

// admonitions are class names of notes and warnings.
var admonitions = document.Set("note tip warning caution important admonition danger hint alert sidebar")

func isAdmonition(n *node) bool {
	for class := range strings.FieldsSeq(n.attr["class"]) {
		if admonitions[strings.ToLower(class)] {
			return true
		}
	}
	return false
}

// textSize returns the bytes of text in an element, excluding noise.
func textSize(n *node) int {
	if n.tag == "" {
		return len(strings.TrimSpace(n.text))
	}
	if isNoise(n) {
		return 0
	}
	size := 0
	for _, k := range n.kids {
		size += textSize(k)
	}
	return size
}

// linkFarm reports whether a list or table consists mostly of links, such as a menu, an index or a list of pages.
func linkFarm(n *node) bool {
	links, linked := 0, 0
	var count func(*node)
	count = func(n *node) {
		for _, k := range n.kids {
			switch {
			case k.tag == "a" && k.attr["href"] != "":
				links++
				linked += textSize(k)
			case k.tag != "" && !isNoise(k):
				count(k)
			}
		}
	}
	count(n)
	if links < 5 {
		return false
	}
	return linked*10 >= textSize(n)*9
}
