package formats

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

var parser = markdown.NewParser()

// inline returns the runs of inline Markdown. Pictures in it are shown by their titles.
func (d *document) inline(source string) []run {
	source = strings.ToValidUTF8(strings.ReplaceAll(source, "\x00", "\uFFFD"), "\uFFFD")
	w := inline{source: []byte(source), known: d.known}
	for n := parser.Parse(w.source).FirstChild(); n != nil; n = n.NextSibling() {
		w.children(n, run{})
		if n.Kind() == ast.KindHTMLBlock || n.Kind() == ast.KindCodeBlock || n.Kind() == ast.KindFencedCodeBlock {
			w.out = append(w.out, run{text: text.Line(markdown.Lines(n, w.source))})
		}
	}
	return merged(w.out)
}

// inline collects the runs of a text.
type inline struct {
	source []byte
	known  map[string]bool // anchors of references
	out    []run
}

func (w *inline) children(parent ast.Node, as run) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.node(n, as)
	}
}

// node adds one node. as: style and link of its parent.
func (w *inline) node(n ast.Node, as run) {
	add := func(text string) {
		x := as
		x.text = text
		w.out = append(w.out, x)
	}
	switch n := n.(type) {
	case *ast.Text:
		raw := string(n.Segment.Value(w.source))
		if !n.IsRaw() {
			raw = markdown.Plain(raw)
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			raw = strings.TrimRight(raw, " \t") + " "
		}
		add(raw)
	case *ast.String:
		add(string(n.Value))
	case *ast.CodeSpan:
		as.style |= fixed
		add(markdown.Code(n, w.source))
	case *ast.Emphasis:
		if n.Level == 1 {
			as.style |= italic
		} else {
			as.style |= bold
		}
		w.children(n, as)
	case *extensionast.Strikethrough:
		as.style |= struck
		w.children(n, as)
	case *ast.Link:
		dest := markdown.Plain(string(n.Destination))
		as.link, as.cited = safeLink(dest), ""
		if anchor := strings.TrimPrefix(dest, "#"); w.known[anchor] {
			as.cited = anchor
		}
		w.children(n, as)
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkURL {
			as.link, as.cited = safeLink(string(n.URL(w.source))), ""
		}
		add(string(n.Label(w.source)))
	case *ast.RawHTML:
		add(string(n.Segments.Value(w.source)))
	default:
		w.children(n, as)
	}
}

// ownPage matches the path of a page text in the run's data.
var ownPage = regexp.MustCompile(`^\.\./cache/[A-Za-z0-9_-]{1,100}/pages/[0-9a-f]{64}\.txt$`)

// safeLink returns an address that is safe to link, or "": a web page, a mail address, or a page text of the run's
// data.
func safeLink(dest string) string {
	dest = strings.TrimSpace(dest)
	if strings.ContainsFunc(dest, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
		return ""
	}
	if ownPage.MatchString(dest) {
		return dest
	}
	u, err := url.Parse(dest)
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host == "" || u.User != nil { // https://known.example@other.example opens other.example
			return ""
		}
	case "mailto":
		if u.Opaque == "" {
			return ""
		}
	default:
		return ""
	}
	return strings.NewReplacer("'", "%27", `"`, "%22", "<", "%3C", ">", "%3E", " ", "%20", "`", "%60").Replace(u.String())
}

// merged merges runs with the same style.
func merged(runs []run) (out []run) {
	for _, x := range runs {
		if n := len(out); n > 0 && out[n-1].cited == x.cited && out[n-1].style == x.style && out[n-1].link == x.link {
			out[n-1].text += x.text
		} else if x.text != "" {
			out = append(out, x)
		}
	}
	return out
}
