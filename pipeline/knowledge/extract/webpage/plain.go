package webpage

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
)

// piece matches what may be markup in a text: comments, tags whose attributes have values, and entities.
var piece = regexp.MustCompile(`(?s)<!--.*?-->|<(/?)(?:jats:|mml:|m:)?([A-Za-z][A-Za-z0-9-]*)` +
	`((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*\s*/?)>|<|` +
	`&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});|&`)

// spoken are the elements besides blocks that occur in excerpts and abstracts. Other words in angle brackets are text,
// such as Vec<T>.
var spoken = document.Set(`
	a b bold br cite code em ext-link font i inline-formula inline-graphic italic mark monospace named-content q sc
	script small span strong style styled-content sub sup time tt u underline uri wbr xref alternatives
	math semantics annotation mrow mi mn mo mtext mspace mstyle msub msup msubsup mfrac msqrt mroot mover munder
	munderover mfenced mtable mtr mtd
`)

// jats maps elements of JATS, the markup of publishers, to those of HTML.
var jats = map[string]string{"title": "p", "sec": "div", "abstract": "div", "list": "ul", "list-item": "li",
	"disp-quote": "blockquote", "disp-formula": "div", "tex-math": "template"}

// Plain returns the text of an excerpt or abstract that may have markup, also escaped: HTML, JATS or MathML. Each line
// is a paragraph.
func Plain(text string) string {
	for range 2 { // markup may be escaped
		var b strings.Builder
		writeLines(&b, parseTree(piece.ReplaceAllStringFunc(strings.ToValidUTF8(text, "\ufffd"), asHTML)))
		text = b.String()
		if !strings.Contains(text, "</") && !strings.Contains(text, "&") {
			break
		}
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = document.Clean(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// asHTML returns a match of piece as HTML.
func asHTML(match string) string {
	m := piece.FindStringSubmatch(match)
	name := strings.ToLower(m[2])
	switch {
	case match == "&":
		return "&amp;"
	case match[0] == '&':
		return match
	case strings.HasPrefix(match, "<!--"):
		return " "
	case jats[name] != "":
		return "<" + m[1] + jats[name] + ">"
	case block[name], spoken[name]:
		return "<" + m[1] + name + m[3] + ">"
	}
	return "&lt;" + match[1:]
}

// writeLines writes the text of a tree with line breaks around its blocks.
func writeLines(b *strings.Builder, n *node) {
	for _, k := range n.kids {
		switch {
		case k.tag == "":
			b.WriteString(k.text)
		case unseen[k.tag]:
			b.WriteByte(' ')
		case block[k.tag] || k.tag == "br":
			b.WriteByte('\n')
			writeLines(b, k)
			b.WriteByte('\n')
		default:
			if text, ok := notation(k, b.String()); ok {
				b.WriteString(text)
			} else {
				writeLines(b, k)
			}
		}
	}
}
