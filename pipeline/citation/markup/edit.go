package markup

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Verdict is the decision on an address.
type Verdict struct {
	Keep  bool   // the link stays
	Dest  string // the new address; empty = unchanged
	After string // the marker that follows the text of a removed link, or replaces a removed address
	Name  string // what stays of a removed address when nothing else does: the site's name
}

// Editor writes a text with what becomes of its tokens.
type Editor struct {
	Surroundings
	output
	*Scanned
	// OnMarker returns what stands in the place of a marker; not ok: it is none.
	OnMarker func(t Token) (replacement string, ok bool)
	// OnLink decides on addresses, and on tags that load, run or link something: of those only links, pictures and
	// anchors may stay.
	OnLink func(t Token) Verdict
	Coded  bool // addresses in code are links, too

	pos   int       // of the text: what comes before is written or gone
	tails []tail    // of links that are open, the innermost last
	tags  []Verdict // of links in HTML that are open

	unclosed map[string]bool // tags that do not come any more
}

// tail is the end of a link, which is reached when its text has been written.
type tail struct {
	Span
	Verdict
}

// Edit returns an editor of a text. It needs OnLink, and leaves markers alone without OnMarker.
func (s *Scanned) Edit() *Editor {
	return &Editor{Scanned: s, Surroundings: Surroundings{Text: s.Markdown, MarkerEnd: -1},
		output: output{from: s.Markdown}, OnMarker: func(Token) (string, bool) { return "", false }}
}

// Run returns text[start:end] changed. What reaches beyond the end is text.
func (e *Editor) Run(start, end int) string {
	e.pos, e.from = start, e.Markdown[:end]
	for _, t := range e.TokensFrom(start) {
		if t.Start >= end {
			break
		}
		e.closeTo(t.Start)
		if t.Start >= e.pos && max(t.End, t.Group.End) <= end && (e.Coded || !t.Coded) {
			e.copyTo(t.Start)
			e.token(t)
		}
	}
	e.closeTo(end)
	e.copyTo(end)
	return e.out.String() + e.space
}

// copyTo takes over the text up to a position.
func (e *Editor) copyTo(to int) {
	e.copy(e.pos, to)
	e.pos = max(e.pos, to)
}

// closeTo writes the ends of links up to a position.
func (e *Editor) closeTo(to int) {
	for n := len(e.tails) - 1; n >= 0 && e.tails[n].Span[0] <= to; n-- {
		t := e.tails[n]
		e.tails = e.tails[:n]
		if t.Span[0] < e.pos {
			continue
		}
		e.copyTo(t.Span[0])
		e.pos = t.Span[1]
		switch {
		case !t.Keep:
			e.insert(t.After, t.Span[1], false)
		case t.Dest != "":
			e.write("](" + t.Dest + ")")
		default:
			e.copy(t.Span[0], t.Span[1])
		}
	}
}

// token carries out what is decided on a token.
func (e *Editor) token(t Token) {
	if t.Group.End > 0 && e.marker(t) {
		return
	}
	switch t.Kind {
	case Address:
		e.address(t)
	case Definition:
		if v := e.OnLink(t); v.Keep {
			e.copyTo(t.End)
			return
		}
		e.space, e.pos = "", e.closeGap(t.End)
	case Tag:
		e.tag(t)
	case Link, Image:
		if t.Raw != "" {
			e.tag(t)
			return
		}
		e.link(t)
	}
}

// marker writes what stands in the place of a marker; false: it is none.
func (e *Editor) marker(t Token) bool {
	replacement, ok := e.OnMarker(t)
	if !ok {
		return false
	}
	e.MarkerEnd, e.pos = t.Group.End, t.Group.End
	if replacement == "" {
		e.pos = e.closeGap(t.Group.End)
		return true
	}
	e.write(replacement)
	e.outMark = e.out.Len()
	return true
}

func (e *Editor) address(t Token) {
	v := e.OnLink(t)
	written := e.from[t.Start:t.End]
	e.pos = t.End
	switch {
	case !v.Keep:
		e.pos = e.remains(v, t.End)
	case v.Dest != "" && written[0] == '<':
		e.write("<" + v.Dest + ">")
	case v.Dest != "":
		e.write(v.Dest)
	default:
		e.copy(t.Start, t.End)
	}
}

// remains writes what stays of an address that goes and ends at next, and returns where to go on. An address alone in
// brackets goes with them.
func (e *Editor) remains(v Verdict, next int) int {
	closing, _ := utf8.DecodeRuneInString(e.from[next:])
	inBrackets := strings.ContainsRune(")）", closing) && opening.Match(e.out.Bytes()[max(0, e.out.Len()-24):])
	if v.After == "" && v.Name != "" && !inBrackets {
		e.write(v.Name)
		return next
	}
	return e.insert(v.After, next, true)
}

func (e *Editor) link(t Token) {
	v := e.OnLink(t)
	label := e.from[t.Text[0]:t.Text[1]]
	empty := strings.TrimSpace(label) == "" || v.After == "" && IsOnlyAddress(label)
	switch {
	case !v.Keep && t.Kind == Image: // what it shows goes with it
		e.pos = e.insert(v.After, t.End, true)
		return
	case !v.Keep && empty:
		if strings.TrimSpace(label) == "" {
			v.Name = ""
		}
		e.pos = e.remains(v, t.End)
		return
	}
	e.tails = append(e.tails, tail{Span{t.Text[1], t.End}, v})
	if v.Keep {
		e.copyTo(t.Text[0])
	}
	e.pos = t.Text[0]
}

var (
	attributeForm = regexp.MustCompile(`(?i)[\s"'/](href|src|id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
	anchorTag     = regexp.MustCompile(`(?i)^a\s+(?:id|name)\s*=\s*["']?[\w.:-]{1,100}["']?\s*/?$`)
	eventHandler  = regexp.MustCompile(`(?i)[\s"'/](?:on[a-z]+|style|srcset|srcdoc|action|formaction|xlink:href` +
		`|background|poster|lowsrc|dynsrc|ping|data|codebase|longdesc|manifest)\s*=`)
)

// attribute returns the value of the first attribute of a tag with this name.
func attribute(tag, name string) string {
	for _, m := range attributeForm.FindAllStringSubmatch(tag, 10) {
		if strings.EqualFold(m[1], name) {
			return m[2] + m[3] + m[4]
		}
	}
	return ""
}

// isPlain reports whether a tag does nothing and has no other address than this one.
func isPlain(tag, dest string) bool {
	return !eventHandler.MatchString(tag) && strings.Count(tag, "://") <= strings.Count(dest, "://")
}

// tag handles an HTML tag. Links and pictures are judged by their addresses, what loads or runs something goes, anchors
// and plain markup stay.
func (e *Editor) tag(t Token) {
	inside := t.Raw[1 : len(t.Raw)-1]
	name, closing := strings.CutPrefix(strings.ToLower(tagName.FindString(inside)), "/")
	active := activeTags[name]
	if !active && isPlain(inside, "") {
		return
	}
	e.pos = t.End
	var v Verdict
	if !closing {
		v = e.OnLink(t)
	}
	switch {
	case !active:
	case name == "a" && !closing:
		if v.Dest != "" {
			v = Verdict{After: v.Dest}
		}
		v.Keep = v.Keep && (anchorTag.MatchString(inside) || t.Kind == Link && isPlain(inside, t.Dest))
		if e.tags = append(e.tags, v); v.Keep {
			e.copy(t.Start, t.End)
		}
	case name == "a" && len(e.tags) > 0:
		v = e.tags[len(e.tags)-1]
		if e.tags = e.tags[:len(e.tags)-1]; v.Keep {
			e.copy(t.Start, t.End)
		} else {
			e.insert(v.After, t.End, false)
		}
	case t.Kind == Image:
		if v.Keep && v.Dest == "" && isPlain(inside, t.Dest) {
			e.copy(t.Start, t.End)
		} else {
			e.pos = e.insert(v.After, t.End, true)
		}
	default:
		if !closing && (name == "script" || name == "style") {
			e.pos = e.afterTag("/"+name, t.End)
		}
		e.pos = e.closeGap(e.pos)
	}
}

// afterTag returns where the next tag with a name ends, and pos when none comes.
func (e *Editor) afterTag(name string, pos int) int {
	if e.unclosed[name] {
		return pos
	}
	for _, t := range e.TokensFrom(pos) {
		if t.Kind == Tag && t.End <= len(e.from) && strings.EqualFold(tagName.FindString(t.Raw[1:]), name) {
			return t.End
		}
	}
	if e.unclosed == nil {
		e.unclosed = map[string]bool{}
	}
	e.unclosed[name] = true
	return pos
}

// output is the rewritten part of a text. White space is held back until the following text is known.
type output struct {
	from     string // the text
	out      bytes.Buffer
	space    string          // white space held back
	outMark  int             // where the last marker ends in out
	adjacent map[string]bool // the markers that end there
}

// copy takes over input, and holds back the white space at its end.
func (o *output) copy(start, end int) {
	if start >= end {
		return
	}
	s := o.from[start:end]
	words := strings.TrimRight(s, " \t\u00a0\u202f\u3000")
	if words != "" {
		o.write(words)
	}
	o.space += s[len(words):]
}

// write replaces the skipped input by text.
func (o *output) write(s string) {
	o.out.WriteString(o.space)
	o.space = ""
	o.out.WriteString(s)
}

// insert puts a marker, or nothing, in the place of what ends at next, and returns where to go on. gone: no text stays
// of what was there.
func (o *output) insert(marker string, next int, gone bool) int {
	if marker = o.Cite(marker); marker != "" {
		if !gone {
			o.space = " "
		}
		o.write(marker)
		o.outMark = o.out.Len()
		return next
	}
	if gone {
		return o.closeGap(next)
	}
	return next
}

// Cite returns the markers that are not yet at the end of the output.
func (o *output) Cite(markers ...string) string {
	if o.out.Len() != o.outMark {
		o.adjacent = nil
	}
	var b strings.Builder
	for _, m := range markers {
		if m == "" || o.adjacent[m] {
			continue
		}
		if o.adjacent == nil {
			o.adjacent = map[string]bool{}
		}
		o.adjacent[m] = true
		b.WriteString(m)
	}
	return b.String()
}
