package webpage

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
)

// notation returns the text of an inline element whose position or form has a meaning: raised and lowered text,
// readings above ideographs, formulas and footnote marks. before is the text so far. ok is false for other elements.
func notation(n *node, before string) (text string, ok bool) {
	switch n.tag {
	case "sup":
		return superscript(n, before), true
	case "sub":
		text = inlineText(n)
		if text != "" && digit(text[0]) && before != "" && digit(before[len(before)-1]) { // 1010₂ is not 10102
			text = "_" + text
		}
		return text, true
	case "rt":
		if text = inlineText(n); text != "" {
			text = "(" + text + ")"
		}
		return text, true
	case "math":
		return formula(n), true
	case "script", "img":
		return notTwice(writtenFormula(n), before), true
	case "a":
		return "", noteLink(n)
	}
	return "", false
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// superscript returns the text of a superscript after the given text: 10⁶ becomes 10^6, never 106. For a footnote mark,
// which links to the note, it returns "".
func superscript(n *node, before string) string {
	if n.find(func(k *node) bool { return noteLink(k) || noteClass(k) || k.tag == "a" && isMark(k) }) != nil {
		return ""
	}
	return document.Raised(before, inlineText(n))
}

// noteLink reports whether a link leads to a footnote: it is declared so, leads to a place in the page from a
// superscript, or holds nothing but one.
func noteLink(n *node) bool {
	if n.tag != "a" {
		return false
	}
	if n.attr["role"] == "doc-noteref" || hasWord(n.attr["epub:type"], "noteref") {
		return true
	}
	parts := n.elements()
	return isMark(n) && len(parts) == 1 && parts[0].tag == "sup"
}

func noteClass(n *node) bool {
	return n.hasClass("reference") || n.hasClass("footnote") || n.hasClass("footnote-ref") || n.hasClass("noteref")
}

// mark matches the text of a footnote mark.
var mark = regexp.MustCompile(`^[\[(]?(?:\d{1,3}|\pL{1,2}|[*†‡§¶]{1,3})[\])]?$`)

// isMark reports whether a link has the text of a footnote mark and leads to a place in a page.
func isMark(n *node) bool {
	href := n.attr["href"]
	return strings.HasPrefix(href, "#") || strings.Contains(href, "#") && mark.MatchString(strings.TrimSpace(rawText(n)))
}

// formula returns the TeX source of a formula if the page includes it, otherwise the output of writeMath.
func formula(n *node) string {
	tex := n.find(func(k *node) bool { return k.tag == "annotation" && strings.Contains(k.attr["encoding"], "tex") })
	if tex == nil {
		var b strings.Builder
		writeMath(&b, n)
		return document.Clean(b.String())
	}
	return dollars(inlineText(tex))
}

// writtenFormula returns the formula that a picture shows or a script of MathJax typesets, or "".
func writtenFormula(n *node) string {
	switch class := n.attr["class"]; {
	case n.tag == "script" && strings.HasPrefix(n.attr["type"], "math/tex") && len(n.kids) > 0:
		return dollars(document.Clean(n.kids[0].text))
	case n.tag == "img" && (strings.Contains(class, "mwe-math") || hasWord(class, "tex") || hasWord(class, "latex")):
		return dollars(document.Clean(n.attr["alt"]))
	}
	return ""
}

// notTwice returns a formula unless the text before ends with it, because its MathML precedes the picture.
func notTwice(tex, before string) string {
	if strings.HasSuffix(strings.TrimRight(before, " \n"), tex) {
		return ""
	}
	return tex
}

var (
	displayed = regexp.MustCompile(`^\{\\(?:displaystyle|textstyle) (.*)\}$`)
	oneSign   = regexp.MustCompile(`([_^])\{(\w)\}`)
)

// dollars returns TeX source between dollar signs, without the frame that MediaWiki puts around it.
func dollars(tex string) string {
	tex = displayed.ReplaceAllString(strings.TrimSpace(tex), "$1")
	if tex = strings.TrimSpace(oneSign.ReplaceAllString(tex, "$1$2")); tex == "" {
		return ""
	}
	return "$" + tex + "$"
}

// Formula returns a formula in MathML as it is written in a page.
func Formula(mathML string) string {
	n := parseTree(strings.ReplaceAll(strings.ReplaceAll(mathML, "<math:", "<"), "</math:", "</"))
	return formula(n)
}
