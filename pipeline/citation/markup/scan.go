package markup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"nightdesk/pipeline/markdown"
)

// Kind says what a token is.
type Kind int

const (
	Marker     Kind = iota // of citations, in brackets: Group
	Named                  // an id without brackets: Group
	Link                   // [text](address), [text][label], <a href="address">text</a>; also a marker if Group.End > 0
	Image                  // ![text](address), <img src="address">
	Address                // in running text or in angle brackets
	Definition             // [label]: address
	Tag                    // of HTML, none of the above
)

// Token is a part of a text that may cite something, or hide it: text[Start:End].
type Token struct {
	Kind
	Start, End int
	Text       Span   // of a link: what is shown, between its beginning and its end
	Dest       string // the address as written
	Raw        string // of HTML: the tag
	Group      Group
	Coded      bool // an address or id in code
	Labelled   bool // a link whose address stands in a definition
}

// Scanned is a text and its tokens by Start. Those within a link or marker follow it.
type Scanned struct {
	Markdown string
	Tokens   []Token
	Code     Spans
	Tree     ast.Node
}

// Scan reads Markdown. known reports whether an address in running text is that of a source; it decides whether words
// that follow without a space belong to the address.
func Scan(source string, known func(address string) bool) *Scanned {
	bytes := []byte(source)
	s := &scanner{Scanned: Scanned{Markdown: source, Tree: reader.Parse(bytes)}, known: known}
	s.Code = markdown.CodeRanges(s.Tree, bytes)
	s.inline(bytes)
	s.text()
	return &s.Scanned
}

// TokensFrom returns the tokens that begin at a byte or behind it.
func (s *Scanned) TokensFrom(start int) []Token {
	at, _ := slices.BinarySearchFunc(s.Tokens, start, func(t Token, at int) int { return t.Start - at })
	return s.Tokens[at:]
}

type scanner struct {
	Scanned
	known func(string) bool
	nodes []Token // what the tree has, by Start
	bound int     // where the text without code ends
}

// inline collects the links of the tree.
func (s *scanner) inline(source []byte) {
	for _, d := range markdown.Definitions(s.Tree) {
		if d.Destination != "" {
			s.nodes = append(s.nodes, Token{Kind: Definition, Start: d.Start, End: d.End, Dest: d.Destination})
		}
	}
	_ = ast.Walk(s.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		at := markdown.SpanOf(n)
		t := Token{Start: at.Start, End: at.End}
		switch n := n.(type) {
		case *ast.Link:
			t.Kind, t.Dest, t.Labelled = Link, string(n.Destination), n.Reference != nil
			t.Text = Span{at.Start + 1, at.Close}
		case *ast.Image:
			t.Kind, t.Dest, t.Text = Image, string(n.Destination), Span{at.Start + 2, at.Close}
		case *ast.AutoLink:
			t.Kind, t.Dest = Address, string(n.Label(source))
			if Scheme(t.Dest) == "" {
				return ast.WalkContinue, nil
			}
		default:
			return ast.WalkContinue, nil
		}
		s.nodes = append(s.nodes, t)
		return ast.WalkContinue, nil
	})
	slices.SortStableFunc(s.nodes, func(a, b Token) int { return cmp.Compare(a.Start, b.Start) })
}

// text collects markers, addresses and tags in what is neither code nor the address of a link.
func (s *scanner) text() {
	var tails []Span // ends of links, the innermost last
	nodes, code := s.nodes, s.Code
	for i := 0; i < len(s.Markdown); {
		for len(tails) > 0 && tails[len(tails)-1][0] < i {
			tails = tails[:len(tails)-1]
		}
		if n := len(tails); n > 0 && tails[n-1][0] == i {
			i, tails = max(i, tails[n-1][1]), tails[:n-1]
			continue
		}
		for len(nodes) > 0 && nodes[0].Start < i {
			nodes = nodes[1:]
		}
		within, inside := code.At(i)
		if s.bound = len(s.Markdown); inside {
			s.bound = within[1]
		} else if len(code) > 0 {
			s.bound = code[0][0]
		}
		if inside {
			found := len(s.Tokens)
			if i++; isLetter(s.Markdown[i-1]) {
				i = s.word(i - 1)
			}
			for ; found < len(s.Tokens); found++ {
				s.Tokens[found].Coded = true
			}
			continue
		}
		if len(nodes) == 0 || nodes[0].Start > i {
			i = s.plain(i)
			continue
		}
		t := nodes[0]
		switch nodes = nodes[1:]; t.Kind {
		case Link, Image:
			t.Group, _ = ParseGroup(s.Markdown[:s.bound], t.Text[0]-1, 0)
			if t.Group.End > 0 && t.Group.End <= t.Text[1]+1 { // a number with a definition
				i = s.plain(i)
				continue
			}
			tails = append(tails, Span{t.Text[1], t.End})
			i = t.Text[0]
		case Address:
			i = t.End
		default: // the label of a definition may be a marker
			i++
		}
		s.Tokens = append(s.Tokens, t)
	}
}

// plain reads what begins at i, and returns where to go on.
func (s *scanner) plain(i int) int {
	c := s.Markdown[i]
	switch {
	case c == '\\' && i+1 < len(s.Markdown) && markdown.IsPunct(s.Markdown[i+1]):
		return i + 2
	case c == '<':
		return s.tag(i)
	case c == '[' || c == '(' || c >= utf8.RuneSelf:
		r, size := utf8.DecodeRuneInString(s.Markdown[i:])
		if ClosingBracket(r) == 0 {
			return i + size
		}
		if g, ok := parseRange(s.Markdown[:s.bound], i); ok {
			s.Tokens = append(s.Tokens, Token{Kind: Marker, Start: i, End: g.End, Group: g})
		}
		return i + size
	case isLetter(c):
		return s.word(i)
	}
	return i + 1
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// word reads a word in running text: an address, an id, or neither.
func (s *scanner) word(i int) int {
	if end, dest := s.address(i); end > i {
		if dest != "" {
			s.Tokens = append(s.Tokens, Token{Kind: Address, Start: i, End: end, Dest: dest})
		}
		return end
	}
	if id, n := s.id(i); n > 0 {
		s.Tokens = append(s.Tokens, Token{Kind: Named, Start: i, End: i + n, Group: Group{End: i + n, IDs: []ID{id}}})
		return i + n
	}
	for i++; i < len(s.Markdown) && AlnumASCII(s.Markdown[i]); i++ {
	}
	return i
}

// id reads an id in running text, as in "as CIT-3-01 shows". Only the exact form counts, because "Plan-9" is text.
func (s *scanner) id(i int) (ID, int) {
	id, n := scanID(s.Markdown[i:s.bound])
	if n == 0 || s.Markdown[i:i+n] != id.String() {
		return ID{}, 0
	}
	before, _ := utf8.DecodeLastRuneInString(s.Markdown[:i])
	if i > 0 && (isWord(before) || strings.ContainsRune("/#-.@=", before)) {
		return ID{}, 0
	}
	if after := s.Markdown[i+n:]; after != "" && strings.IndexByte("-/_", after[0]) >= 0 {
		return ID{}, 0
	}
	return id, n
}

// address reads an address in running text. dest is empty for what only begins like one.
func (s *scanner) address(i int) (end int, dest string) {
	anyScheme := hasAuthority(s.Markdown[i:])
	if !anyScheme && !isAddress(s.Markdown[i:]) {
		return i, ""
	}
	before, _ := utf8.DecodeLastRuneInString(s.Markdown[:i])
	if i > 0 && !anyScheme && (isWord(before) || strings.ContainsRune("/.-@:", before)) {
		return i, ""
	}
	limit := s.bound
	end = AddressEnd(s.Markdown, i, limit)
	dest = strings.TrimRight(s.Markdown[i:end], AddressMarks)
	if strings.HasPrefix(s.Markdown[i+len(dest):end], "...") { // cut short, or the end of a sentence
		dest = s.Markdown[i : i+len(dest)+3]
	}
	if len(dest) < len("www.x") {
		return i + max(1, len(dest)), ""
	}
	if word := strings.IndexFunc(dest, standsClose); word > 0 && !s.known(dest) {
		dest = dest[:word] // words may follow the address at once
	}
	end = i + len(dest)
	if FoldPrefix(dest, "www.") {
		dest = "https://" + dest
	}
	return end, dest
}

// htmlTag is a tag of HTML.
var htmlTag = regexp.MustCompile(`^<(/?[a-zA-Z][a-zA-Z0-9]*)[^<>]*>`)

// maxTag bounds a tag, in bytes.
const maxTag = 1000

// tag reads a tag. That of a link extends to the end of the link.
func (s *scanner) tag(i int) int {
	m := htmlTag.FindStringSubmatch(s.Markdown[i:min(len(s.Markdown), i+maxTag)])
	if m == nil || hasAuthority(m[0][1:]) {
		return i + 1
	}
	t := Token{Kind: Tag, Start: i, End: i + len(m[0]), Raw: m[0]}
	switch name := strings.ToLower(m[1]); name {
	case "img":
		t.Kind, t.Dest = Image, attribute(m[0], "src")
	case "a":
		if t.Dest = attribute(m[0], "href"); t.Dest != "" {
			t.Kind = Link
		}
	}
	s.Tokens = append(s.Tokens, t)
	return i + len(m[0])
}
