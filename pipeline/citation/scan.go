package citation

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

// Kind says what a token is.
type Kind int

const (
	KindMarker  Kind = iota // of citations: IDs, Numbers or Name
	KindLink                // [text](address), [text][label]
	KindImage               // ![text](address)
	KindAddress             // in running text or in angle brackets
	KindTag                 // of HTML, that could load, run or link something
)

// Token is a part of a text that cites something, or could hide it: text[Start:End].
type Token struct {
	Kind
	Start, End int
	Text       Span   // of a link: what is shown
	Dest       string // the address as written
	Coded      bool   // an address in code, or the definition of one that leads to a source
	Labelled   bool   // a link whose address stands in a definition
	Cited
}

// Text is Markdown with its tokens by Start. Those within a link follow it.
type Text struct {
	Markdown string
	Tokens   []Token
	Code     Spans
	Tree     ast.Node
	math     Spans
}

// Span is a range of bytes: the first, and the one behind the last.
type Span = [2]int

// Spans are in order and do not overlap.
type Spans [][2]int

// Has reports whether a byte lies in one of the spans.
func (s Spans) Has(at int) bool {
	i, found := slices.BinarySearchFunc(s, at, func(r Span, at int) int { return r[0] - at })
	return found || i > 0 && at < s[i-1][1]
}

var reader = markdown.NewTextParser()

// Code returns the byte ranges of Markdown that are code, in order: fenced blocks with their fences, indented blocks,
// inline code. Citations in code are ignored.
func Code(text string) Spans {
	return markdown.CodeRanges(reader.Parse([]byte(text)), []byte(text))
}

// masked is what stands for a byte that belongs to code or to the address of a link.
const masked = 0x01

// Scan reads Markdown. Words that follow an address without a space belong to it if a source has it so.
func (r *Registry) Scan(source string) *Text {
	raw := []byte(source)
	t := &Text{Markdown: source, Tree: reader.Parse(raw)}
	t.Code = markdown.CodeRanges(t.Tree, raw)
	plain := slices.Clone(raw)
	mask := func(start, end int) { copy(plain[start:end], bytes.Repeat([]byte{masked}, end-start)) }
	t.nodes(mask)
	for _, m := range tag.FindAllStringSubmatchIndex(string(plain), -1) {
		raw := source[m[0]:m[1]]
		if isActive(source[m[2]:m[3]], raw) && !t.Code.Has(m[0]) {
			t.Tokens = append(t.Tokens, Token{Kind: KindTag, Start: m[0], End: m[1]})
			mask(m[0], m[1])
		}
	}
	var defined Spans
	for _, d := range markdown.Definitions(t.Tree) {
		defined = append(defined, Span{d.Start, d.End})
	}
	t.addresses(r, string(plain), defined)
	for _, c := range slices.Concat(t.Code, defined) {
		mask(c[0], c[1])
	}
	t.markers(string(plain))
	slices.SortStableFunc(t.Tokens, func(a, b Token) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	t.math = mathSpans(source)
	return t
}

// From returns the tokens that begin at a byte or behind it.
func (t *Text) From(start int) []Token {
	at, _ := slices.BinarySearchFunc(t.Tokens, start, func(t Token, at int) int { return t.Start - at })
	return t.Tokens[at:]
}

// nodes collects the links of the syntax tree and masks their addresses.
func (t *Text) nodes(mask func(start, end int)) {
	add := func(k Token, from int) {
		mask(from, k.End)
		t.Tokens = append(t.Tokens, k)
	}
	_ = ast.Walk(t.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		at := markdown.SpanOf(n)
		k := Token{Start: at.Start, End: at.End}
		switch n := n.(type) {
		case *ast.Link:
			k.Kind, k.Dest, k.Text = KindLink, string(n.Destination), Span{at.Start + 1, at.Close}
			k.Labelled = n.Reference != nil
			shown := t.Markdown[at.Start : at.Close+1]
			if c, ok := citedBy(shown); ok && (k.Labelled || strings.HasPrefix(k.Dest, "#")) {
				return ast.WalkContinue, nil // a marker
			} else if ok && len(c.Numbers) > 0 && !c.Hash {
				k.Cited = c
				mask(at.Start, at.Close)
			}
			add(k, at.Close)
		case *ast.Image:
			k.Kind, k.Dest, k.Text = KindImage, string(n.Destination), Span{at.Start + 2, at.Close}
			add(k, at.Start)
		case *ast.AutoLink:
			if k.Kind, k.Dest = KindAddress, string(n.Label([]byte(t.Markdown))); Scheme(k.Dest) != "" {
				add(k, at.Start)
			}
		}
		return ast.WalkContinue, nil
	})
}

const (
	// AddressStops are the characters that addresses cannot contain.
	AddressStops = "<>\"`|{}\\。，；：！？（）【】《》“”„«»、،؛؟۔।"
	// AddressMarks do not end an address, although it can contain them.
	AddressMarks = ".,;:!?'*_~"
)

// addressRune is a character of an address. Markdown may escape some.
var addressRune = `(?:\\[_*~(&#+=-]|[^` + regexp.QuoteMeta(AddressStops) + `\x00-\x20\x7f\pZ])+`

// addressForm is an address in running text.
var addressForm = regexp.MustCompile(`(?i)(?:(?:[a-z][a-z0-9+-]{0,20}:)?//|www\.)` + addressRune)

// addresses collects the addresses in running text and in code.
func (t *Text) addresses(r *Registry, plain string, defined Spans) {
	for at := 0; ; {
		m := addressForm.FindStringIndex(plain[at:])
		if m == nil {
			return
		}
		start := at + m[0]
		dest := AddressIn(plain[start : at+m[1]])
		at = start + max(1, len(dest))
		schemed := Scheme(dest) != ""
		within := endsInWord(plain[:start]) || start > 0 && strings.IndexByte("/.-@:", plain[start-1]) >= 0
		if len(dest) < len("www.x") || !schemed && within {
			continue
		}
		if word := strings.IndexFunc(dest, standsClose); word > 0 && !r.HasURL(dest) {
			dest = dest[:word] // words may follow the address at once
		}
		k := Token{Kind: KindAddress, Start: start, End: start + len(dest), Dest: dest, Coded: t.Code.Has(start)}
		if !schemed && dest[0] != '/' {
			k.Dest = "https://" + dest
		}
		if defined.Has(start) { // the address of labelled links, which are tokens themselves
			address, _ := Destination(k.Dest)
			_, _, k.Coded = r.Lead(address)
		}
		at = k.End
		t.Tokens = append(t.Tokens, k)
	}
}

// standsClose reports whether r may follow an address without a space, although addresses can contain it.
func standsClose(r rune) bool { return text.CJK(r) || r == '—' || r == '・' }

// nextAddress begins another address behind a comma.
var nextAddress = regexp.MustCompile(`(?i)[,;](?:https?://|www\.)`)

// ends are kinds of characters that end an address unless they are ASCII: quotation marks, brackets, invisible ones.
var ends = []*unicode.RangeTable{unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf, unicode.Cf}

// AddressIn returns the address that a text without spaces begins with: without closing brackets that it does not open
// and the punctuation behind it. An ellipsis stays: it says that the address is cut short.
func AddressIn(s string) string {
	if m := nextAddress.FindStringIndex(s); m != nil {
		s = s[:m[0]]
	}
	open, query := "", strings.IndexByte(s, '?')
	for i, r := range s {
		switch {
		case r > unicode.MaxASCII && r != '’' && unicode.In(r, ends...):
			s = s[:i]
		case r == '[' && (query < 0 || query > i) && !strings.HasSuffix(s[:i], "://"):
			s = s[:i]
		case r == '(' || r == '[':
			open += string(r)
			continue
		case r != ')' && r != ']':
			continue
		case open != "" && (open[len(open)-1] == '(') == (r == ')'):
			open = open[:len(open)-1]
			continue
		default:
			s = s[:i]
		}
		break
	}
	dest := strings.TrimRight(s, AddressMarks+"’‘…")
	if rest := s[len(dest):]; strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, "…") {
		dest += rest[:len("...")]
	}
	return dest
}

// Scheme returns the lower-case scheme of a destination. A name with a dot is a file, not a scheme.
func Scheme(s string) string {
	return strings.ToLower(strings.TrimSuffix(schemeForm.FindString(s), ":"))
}

var schemeForm = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+-]{0,30}:`)

// tag is a tag of HTML.
var tag = regexp.MustCompile(`<(/?[a-zA-Z][a-zA-Z0-9]*)(?:[\s/][^<>]*)?>`)

// harmless is a tag whose attributes only name it, as anchors do.
var harmless = regexp.MustCompile(`(?i)^<[a-z][a-z0-9]*(?:\s+(?:id|name|class)\s*=\s*["']?[\w.: -]*["']?)*\s*/?>$`)

// activeTags load, run or link something when a report is shown as HTML.
var activeTags = strings.Fields(`img script style iframe object embed form input button link meta base svg video audio
	source`)

// isActive reports whether a tag could load, run or link something.
func isActive(name, raw string) bool {
	return slices.Contains(activeTags, strings.ToLower(strings.TrimPrefix(name, "/"))) ||
		strings.Contains(raw, "=") && !harmless.MatchString(raw)
}
