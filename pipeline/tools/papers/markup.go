package papers

import (
	"html"
	"slices"
	"strings"

	nethtml "golang.org/x/net/html"
)

// Element names of JATS, HTML and MathML, without a prefix.
var (
	blocks = []string{"p", "title", "sec", "br", "list", "list-item", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6",
		"div", "abstract", "disp-quote", "disp-formula"}
	inline = []string{"i", "b", "u", "em", "strong", "sub", "sup", "a", "span", "tt", "italic", "bold", "sc", "underline",
		"monospace", "styled-content", "ext-link", "uri", "xref", "inline-formula", "alternatives", "tex-math",
		"inline-graphic", "named-content", "script", "style"}
	maths = []string{"math", "semantics", "annotation", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mstyle", "msub",
		"msup", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover", "mfenced", "mtable", "mtr", "mtd"}
	// unread are elements without text, or whose text repeats a formula in another notation.
	unread = []string{"tex-math", "annotation", "script", "style"}
	// between are the characters before the second and third part of a formula. Without them, 10 to the power of 5
	// would become 105.
	between = map[string][]string{"msup": {"^"}, "msub": {"_"}, "msubsup": {"_", "^"}, "mfrac": {"/"},
		"munderover": {"_", "^"}}
)

// plain returns s without JATS, HTML or MathML markup, even if the markup is escaped. A character such as < that is not
// markup is kept.
func plain(s string) string {
	s = strip(s)
	if strings.Contains(s, "</") || strings.Contains(s, "&") {
		s = html.UnescapeString(strip(s))
	}
	return s
}

// strip removes one level of markup.
func strip(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	type part struct {
		name  string
		parts int // number of parts so far
	}
	var b strings.Builder
	var formula []part // enclosing MathML elements
	skip := ""         // the current element of unread, if any
	for z := nethtml.NewTokenizer(strings.NewReader(s)); ; {
		kind := z.Next()
		raw := string(z.Raw())
		if kind == nethtml.ErrorToken {
			b.WriteString(html.UnescapeString(raw))
			return b.String()
		}
		token := z.Token()
		name := localName(token)
		switch {
		case kind == nethtml.CommentToken || kind == nethtml.DoctypeToken:
		case skip != "":
			if kind == nethtml.EndTagToken && name == skip {
				skip = ""
			}
		case kind == nethtml.TextToken:
			b.WriteString(token.Data)
		case !isMarkup(token):
			b.WriteString(html.UnescapeString(raw))
		case kind == nethtml.StartTagToken && slices.Contains(unread, name):
			skip = name
		case slices.Contains(blocks, name):
			b.WriteString("\n")
		case kind == nethtml.StartTagToken && name == "sup" && b.Len() > 0 && !strings.HasSuffix(b.String(), " "):
			b.WriteString("^")
		case kind == nethtml.StartTagToken && slices.Contains(maths, name):
			if n := len(formula); n > 0 {
				if signs := between[formula[n-1].name]; formula[n-1].parts > 0 && formula[n-1].parts <= len(signs) {
					b.WriteString(signs[formula[n-1].parts-1])
				}
				formula[n-1].parts++
			}
			formula = append(formula, part{name: name})
		case kind == nethtml.EndTagToken && len(formula) > 0 && formula[len(formula)-1].name == name:
			formula = formula[:len(formula)-1]
		}
	}
}

// localName returns the name of an element without its namespace prefix.
func localName(t nethtml.Token) string {
	if _, local, ok := strings.Cut(t.Data, ":"); ok {
		return local
	}
	return t.Data
}

// isMarkup distinguishes an element from a comparison that looks like one, such as "a<b and c>d".
func isMarkup(t nethtml.Token) bool {
	for _, a := range t.Attr {
		if a.Val == "" {
			return false
		}
	}
	space, _, prefixed := strings.Cut(t.Data, ":")
	name := localName(t)
	if prefixed && slices.Contains([]string{"jats", "mml", "m"}, space) {
		return true
	}
	return slices.Contains(blocks, name) || slices.Contains(inline, name) || slices.Contains(maths, name)
}
