package formats

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"nightdesk/pipeline/markdown"
)

// runs returns the text of a heading or table cell.
func (r *reader) runs(n ast.Node) []run {
	w := inline{reader: r}
	w.children(n, run{})
	return tidy(w.out)
}

// inline collects the runs of one block.
type inline struct {
	*reader
	out []run
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
		switch {
		case n.HardLineBreak():
			add(strings.TrimRight(raw, " \t"))
			w.out[len(w.out)-1].broken = true
		case n.SoftLineBreak():
			add(strings.TrimRight(raw, " \t") + " ")
		default:
			add(raw)
		}
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
		as.link, as.cited = safeLink(markdown.Plain(string(n.Destination))), ""
		if strings.HasPrefix(as.link, "#ref-") {
			as.cited = as.link[1:]
		}
		w.children(n, as)
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkURL {
			as.link, as.cited = safeLink(string(n.URL(w.source))), ""
		}
		add(string(n.Label(w.source)))
	case *ast.Image:
		from := len(w.out)
		w.children(n, as)
		title := plainText(w.out[from:])
		w.out = w.out[:from]
		if f := w.picture(markdown.Plain(string(n.Destination)), title); f != nil {
			w.out = append(w.out, run{figure: f})
		} else {
			add(title)
		}
	case *ast.RawHTML:
		add(string(n.Segments.Value(w.source)))
	default:
		w.children(n, as)
	}
}

// picture returns a figure from the report's own data; nil if there is none or MaxFigures is reached.
func (r *reader) picture(path, title string) *figure {
	body := r.doc.Figures[path]
	if len(body) == 0 || r.figures+len(body) > MaxFigures {
		return nil
	}
	r.figures += len(body)
	return &figure{body: body, svg: strings.HasSuffix(path, ".svg"), title: title}
}

// ownPage matches the path of a page text in the run's data.
var ownPage = regexp.MustCompile(`^\.\./cache/[A-Za-z0-9_-]{1,100}/pages/[0-9a-f]{64}\.txt$`)

// safeLink returns an address that is safe to link, or "": a web page, a mail address, a place in the report, or a page
// text of the run's data.
func safeLink(dest string) string {
	dest = strings.TrimSpace(dest)
	if strings.ContainsFunc(dest, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
		return ""
	}
	if anchor, ok := strings.CutPrefix(dest, "#"); ok {
		if !ownPlace.MatchString(anchor) {
			return ""
		}
		return dest
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

var ownPlace = regexp.MustCompile(`^(?:ref|part)-[a-z0-9-]{1,36}$`)

// verdict matches the mark of an unsupported sentence, in the languages of reports.
var verdict = regexp.MustCompile(`\[(?:unsupported|无来源支持)\]`)

// tidy merges runs with the same style, moves the brackets around citations into their runs, and splits off verdicts.
func tidy(runs []run) []run {
	var out []run
	for _, x := range merged(runs) {
		at := 0
		if x.cited == "" && x.style&fixed == 0 {
			for _, m := range verdict.FindAllStringIndex(x.text, -1) {
				before, mark := x, x
				before.text, before.broken = x.text[at:m[0]], false
				mark.text, mark.style, mark.broken = x.text[m[0]:m[1]], x.style|marked, false
				out, at = append(out, before, mark), m[1]
			}
		}
		x.text = x.text[at:]
		out = append(out, x)
	}
	return slices.DeleteFunc(out, func(x run) bool { return x.text == "" && x.figure == nil && !x.broken })
}

// merged merges runs with the same style, and moves the brackets around citations into their runs.
func merged(runs []run) []run {
	var out []run
	var text []byte // text of the last run of out; a paragraph may have a hundred thousand lines
	end := func() {
		if n := len(out); n > 0 {
			out[n-1].text = string(text)
		}
		text = text[:0]
	}
	for i, x := range runs {
		if x.cited != "" && len(out) > 0 && i+1 < len(runs) && runs[i-1].cited != x.cited {
			if bytes.HasSuffix(text, []byte("[")) && strings.HasPrefix(runs[i+1].text, "]") {
				text = text[:len(text)-1]
				runs[i+1].text = runs[i+1].text[1:]
				x.text = "[" + x.text + "]"
			}
		}
		if n := len(out); n > 0 && out[n-1].goesOn(x) {
			text = append(text, x.text...)
			out[n-1].broken = x.broken
			continue
		}
		end()
		out, text = append(out, x), append(text, x.text...)
	}
	end()
	return out
}

// goesOn reports whether the next run has the same style and neither is a citation or a figure.
func (x run) goesOn(next run) bool {
	if x.broken || x.figure != nil || next.figure != nil || x.cited+next.cited != "" {
		return false
	}
	return x.style == next.style && x.link == next.link
}
