package verification

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
)

// entry is an item of a list of references or a footnote, or what could be one or end a list: an item, a row, a
// heading, code, or the lines of a paragraph from one label to the next.
type entry struct {
	start, end int // bytes, without the last line break
	code       bool
	depth      int  // of a heading: 1 to 6; lineLevel: a line that looks like one
	names      bool // it names a list of references
	doubtful   bool // it could name something else
	taken      bool // it is in a list
	label
	at   int // position in the text, from 1
	list int // position of its list; footnotes have one of their own

	target
	written string // the text as the references show it
	final   int    // number in the result; 0: none
	same    *entry // the entry that this one duplicates
}

// label is what an entry begins with.
type label struct {
	style  string // entries of a list have the same; empty: there is no label
	number int    // as written; noNumber if it has none
	id     string // canonical citation id
	note   bool   // of markers such as [^1]; notes may stand among others
	name   string // of a footnote
	body   int    // byte at which the text begins
}

// noNumber is the number of an entry without one; some lists count from 0.
const noNumber = -1

const (
	bracketStyle = "["
	orderedStyle = "."
	rowStyle     = "|"
	bulletStyle  = "-"
)

// lineLevel is the level of a line that names references without being a heading.
const lineLevel = 7

func (p *entry) isHeading() bool { return p.depth > 0 && p.depth < lineLevel }

// labelled reports whether a piece has a label of its own, which a bullet is not.
func (p *entry) labelled() bool {
	return p.style != "" && (p.number != noNumber || p.id != "" || p.name != "")
}

var (
	labelForm = regexp.MustCompile(`^[ \t]{0,8}(?:•[ \t]+|\|[ \t]*|<(?:li|p)>[ \t]*)?` +
		`(?:<a (?:id|name)=["'][^"'<>]*["']>[ \t]*</a>[ \t]*)?(?:\*\*|__)?` +
		`(?:\\?[\[【［]{1,2}(\^?)#?(?:([0-9٠-٩۰-۹०-९]{1,4})|((?i:CIT|PLAN)-[-0-9]{1,20}))(?:†[^】]*)?\\?[\]】］]` +
		`(?:\(#[^)\s]*\))?\]?` +
		`|([0-9]{1,4})(?:[.):](?:\*\*|__)?(?:[ \t]+|$)|、|．|[ \t]*\|)|[(（]([0-9]{1,4})[)）])(?:\*\*|__)?[.:：]?[ \t]*`)
	noteForm    = regexp.MustCompile(`^ {0,3}\[\^([^\[\]\s^]{1,80})\]:[ \t]*`)
	bulletForm  = regexp.MustCompile(`^[ \t]{0,8}(?:•[ \t]+|<li>[ \t]*|\|[ \t]*)`)
	itemNumber  = regexp.MustCompile(`([0-9]{1,4})[.)][ \t]*$`)
	onlyAddress = regexp.MustCompile(`(?i)^[-*+•]?\s*[<` + "`" + `*]*(?:https?://|www\.)\S+$`)
	// linkLabel is the label of a link's address or of a footnote.
	linkLabel = regexp.MustCompile(`^ {0,3}\[[^\[\]\s]{1,80}\]:`)
)

// labelOf reads the label of an entry.
func labelOf(raw string, start int) label {
	l := label{style: bracketStyle, number: noNumber}
	if m := noteForm.FindStringSubmatch(raw); m != nil {
		l.note, l.name, l.body = true, m[1], start+len(m[0])
		if strings.Trim(l.name, "0123456789") == "" {
			l.number, l.name = citation.Number(l.name), ""
		}
		return l
	}
	m := labelForm.FindStringSubmatch(raw)
	row := strings.HasPrefix(strings.TrimSpace(raw), "|")
	if m == nil {
		if m = bulletForm.FindStringSubmatch(raw); m == nil {
			return label{}
		}
		l.style = bulletStyle
	} else if l.id = citation.Canonical(m[3]); m[3] == "" {
		if l.number = citation.Number(m[2] + m[4] + m[5]); m[2] == "" {
			l.style = orderedStyle
		}
	}
	if row && l.id == "" {
		l.style = rowStyle
	}
	l.body = start + len(m[0])
	return l
}

// text returns the words of a piece as written.
func (v *verifier) text(p *entry) string { return v.Markdown[p.start:p.end] }

// readPieces collects the pieces of a document or container.
func (v *verifier) readPieces(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			v.readHeading(n)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			v.pieces = append(v.pieces, &entry{start: max(0, n.Pos()), end: max(0, n.Pos()), code: true})
		case *ast.Paragraph, *ast.TextBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				start, end := v.lineAt(line.Start)
				v.readLine(start, line.Start, end, i == 0)
			}
		case *ast.ListItem:
			v.readItem(n)
		case *extensionast.Table:
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				if cell := row.FirstChild(); cell != nil && cell.Lines().Len() > 0 {
					start, end := v.lineAt(cell.Lines().At(0).Start)
					v.readLine(start, start, end, true)
				}
			}
		default:
			v.readPieces(n)
		}
	}
}

// lineAt returns the ends of the line at a byte.
func (v *verifier) lineAt(at int) (start, end int) {
	start = strings.LastIndexByte(v.Markdown[:at], '\n') + 1
	if n := strings.IndexByte(v.Markdown[at:], '\n'); n >= 0 {
		return start, at + n
	}
	return start, len(v.Markdown)
}

func (v *verifier) readHeading(n *ast.Heading) {
	if n.Lines().Len() == 0 {
		return
	}
	first, last := n.Lines().At(0), n.Lines().At(n.Lines().Len()-1)
	p := &entry{depth: n.Level}
	p.start, _ = v.lineAt(first.Start)
	_, p.end = v.lineAt(last.Start)
	p.nameList(v.Markdown[first.Start:first.Stop])
	if n.Level >= 3 {
		p.label = labelOf(v.Markdown[first.Start:first.Stop], first.Start)
	}
	p.end += len(underline.FindString(v.Markdown[p.end:]))
	v.pieces = append(v.pieces, p)
}

var underline = regexp.MustCompile(`^\n[ \t>]*=+[ \t]*(?:\n|$)`)

// readItem reads an item of a list. What follows its first lines goes on with them unless it has a label of its own.
func (v *verifier) readItem(n *ast.ListItem) {
	first, from := n.FirstChild(), len(v.pieces)
	v.readPieces(n)
	if first == nil || len(v.pieces) == from || first.Kind() != ast.KindTextBlock && first.Kind() != ast.KindParagraph {
		return
	}
	item := v.pieces[from]
	if first.Lines().Len() > 0 && item.style == "" && !item.isHeading() {
		body := first.Lines().At(0).Start
		item.label = label{style: bulletStyle, number: noNumber, body: body}
		if m := itemNumber.FindStringSubmatch(v.Markdown[item.start:body]); m != nil {
			item.style, item.number = orderedStyle, citation.Number(m[1])
		}
	}
	kept := from + 1
	for _, p := range v.pieces[from+1:] {
		if goesOn := !p.code && !p.labelled() && p.depth == 0; goesOn {
			v.pieces[kept-1].end = p.end
			continue
		}
		v.pieces[kept] = p
		kept++
	}
	v.pieces = v.pieces[:kept]
}

// readLine reads a line of a block, of which body is the first byte behind the marks of containers.
func (v *verifier) readLine(start, body, end int, first bool) {
	raw := v.Markdown[body:end]
	parts := v.parts(raw)
	for i, at := range parts {
		p := &entry{start: start, end: end}
		if i > 0 {
			p.start = body + at
		}
		if i+1 < len(parts) {
			p.end = body + parts[i+1]
		}
		words := v.Markdown[body+at : p.end]
		p.label = labelOf(words, body+at)
		p.nameList(words)
		begins := first || i > 0 || strings.HasPrefix(strings.TrimSpace(words), "</")
		begins = begins || p.style != "" || p.names || linkLabel.MatchString(words)
		if last := len(v.pieces) - 1; !begins && !v.pieces[last].names && v.pieces[last].style != rowStyle {
			v.pieces[last].end = p.end
			continue
		}
		v.pieces = append(v.pieces, p)
	}
}

// another is the label of a further entry on the same line.
var another = regexp.MustCompile(`[ \t;,|]+\[([0-9]{1,3})\][ \t:]+`)

// parts returns where the entries of a list begin that share a line, also behind its heading: "**Sources:** [1] ...".
func (v *verifier) parts(raw string) []int {
	parts, last, from := []int{0}, noNumber, 0
	if l := labelOf(raw, 0); l.style == bracketStyle {
		last, from = l.number, l.body
	}
	for _, m := range another.FindAllStringSubmatchIndex(raw, -1) {
		n := citation.Number(raw[m[2]:m[3]])
		follows := last >= 0 && n > last && m[0] >= from && v.leads(raw[from:m[0]])
		heads := last < 0 && m[0] < 100 && isReferenceLabel(headingLabel(raw[:m[0]])) && v.leads(raw[m[1]:])
		if follows || heads {
			parts, last, from = append(parts, m[2]-1), n, m[1]
		}
	}
	return parts
}

// leads reports whether a text names an address, a document, or a name that looks like a document.
func (v *verifier) leads(text string) bool {
	if citation.HasAddress(text) {
		return true
	}
	_, key := v.MatchText(text)
	return key != "" || v.Titled(text) >= 0
}

// readReferences finds the entries of all lists.
func (v *verifier) readReferences() {
	v.readPieces(v.Tree)
	for _, d := range markdown.Definitions(v.Tree) {
		start, _ := v.lineAt(d.Start)
		v.pieces = append(v.pieces, &entry{start: start, end: d.End, label: labelOf(v.Markdown[d.Start:d.End], d.Start)})
	}
	slices.SortStableFunc(v.pieces, func(a, b *entry) int { return a.start - b.start })
	last := &entry{}
	v.pieces = slices.DeleteFunc(v.pieces, func(p *entry) bool { // an address below an entry that has none
		alone := !p.labelled() && onlyAddress.MatchString(strings.TrimSpace(v.text(p)))
		if joins := alone && last.labelled() && !v.leads(v.text(last)); !joins {
			last = p
			return false
		}
		last.end = p.end
		return true
	})
	for i := 0; i < len(v.pieces); i++ {
		if h := v.pieces[i]; h.names {
			until := i + 1
			for until < len(v.pieces) && (v.pieces[until].depth == 0 || v.pieces[until].depth > h.depth) {
				until++
			}
			if v.section(i, until) {
				i = until - 1
			}
		}
	}
	tail := len(v.pieces)
	if len(v.entries) == 0 {
		tail = v.tail()
	}
	v.lists++
	for i, p := range v.pieces {
		link := linkLabel.MatchString(v.text(p)) && citation.HasAddress(v.text(p))
		if !p.labelled() || p.taken || p.name != "" && !v.leads(v.Markdown[p.body:p.end]) {
			continue
		}
		if i >= tail || p.note || link {
			v.add(p)
		}
	}
	v.numberNotes()
}

// add notes that an entry is in the last list.
func (v *verifier) add(e *entry) {
	e.taken, e.list = true, v.lists
	v.entries = append(v.entries, e)
}

// numberNotes gives entries their positions, and footnotes with a name or the number of another entry a number.
func (v *verifier) numberNotes() {
	slices.SortFunc(v.entries, func(a, b *entry) int { return a.start - b.start })
	top, taken := 0, map[int]bool{}
	for i, e := range v.entries {
		e.at, top = i+1, max(top, e.number)
		taken[e.number] = taken[e.number] || !e.note
	}
	for _, e := range v.entries {
		if e.note && e.name == "" && taken[e.number] {
			e.name = strconv.Itoa(e.number)
		}
		if e.name != "" {
			top++
			e.number = top
		}
	}
}

// section reads the entries below a heading; false: there are none. Text between them belongs to the report and stays.
// Not every entry leads somewhere, but other text has numbers, too. Entries without a number or bullet are paragraphs
// with an address in each line.
func (v *verifier) section(head, until int) bool {
	style, before, last, prose := "", len(v.entries), noNumber, false // prose: other text since the last entry
	v.lists++
	isSource := func(p *entry) bool { return p.labelled() && v.leads(v.text(p)) }
	listed := !v.pieces[head].doubtful || slices.ContainsFunc(v.pieces[head+1:until], isSource)
	for i := head + 1; i < until; i++ {
		p := v.pieces[i]
		found := len(v.entries) > before
		if p.style != "" && (style == "" || style == p.style) {
			if style == orderedStyle && !prose && p.number == v.entries[before].number {
				p.number = last + 1 // Markdown allows lists numbered 1. 1. 1.
			}
			goesOn := listed
			if found {
				goesOn = style == bracketStyle || p.number > last
			}
			certain := p.id != "" || v.leads(v.Markdown[p.body:p.end])
			if certain || !prose && goesOn && p.labelled() {
				v.add(p)
				style, last, prose = p.style, max(last, p.number), false
				continue
			}
		}
		if !found && v.pieces[head].doubtful {
			return false // a single word above a paragraph is not a heading
		}
		prose = prose || p.style != rowStyle
	}
	if len(v.entries) == before {
		v.unlabelled(head+1, until)
	}
	if len(v.entries) == before {
		return false
	}
	v.heads = append(v.heads, v.pieces[head])
	for i := head + 1; i < until; i++ { // headings of parts of the list, and tags around it
		p := v.pieces[i]
		part := p.isHeading() && i+1 < until && v.pieces[i+1].taken
		if !p.taken && (part || htmlTag.ReplaceAllString(v.text(p), "") == "") {
			v.heads = append(v.heads, p)
		}
	}
	return true
}

// unlabelled reads entries of which each ends with a line that has an address.
func (v *verifier) unlabelled(from, until int) {
	for i := from; i < until; i++ {
		p := v.pieces[i]
		if p.code || p.isHeading() {
			continue
		}
		start, at := p.start, p.start
		for line := range strings.Lines(v.text(p)) {
			if at += len(line); citation.HasAddress(line) {
				end := at - len(line) + len(strings.TrimRight(line, "\n"))
				v.add(&entry{start: start, end: end, label: label{number: noNumber, body: start}})
				start = at
			}
		}
	}
}

// tail returns the first piece of the list that ends the text without a heading, and the number of pieces where there
// is none. Entries with labels such as [1] each lead somewhere. A numbered list, which may be one of other things,
// counts from 1, has an address in each item, and the text above it cites by its numbers.
func (v *verifier) tail() int {
	at, style := len(v.pieces), ""
	begun := func() bool { return style == orderedStyle && v.pieces[at].number == 1 }
	for i := len(v.pieces) - 1; i >= 0 && !begun(); i-- {
		p := v.pieces[i]
		if !p.labelled() || style != "" && p.style != style {
			break
		}
		body := v.Markdown[p.body:p.end]
		numbered := p.style == orderedStyle && citation.HasAddress(body)
		if !(numbered || p.style == bracketStyle && v.leads(body)) {
			break
		}
		at, style = i, p.style
	}
	cites := func(k citation.Token) bool { return k.Start < v.pieces[at].start && len(k.Numbers) > 0 }
	if style == orderedStyle && !(begun() && slices.ContainsFunc(v.Tokens, cites)) {
		return len(v.pieces)
	}
	if at > 0 && style != "" && v.pieces[at-1].isHeading() && !citation.HasAddress(v.text(v.pieces[at-1])) {
		v.heads = append(v.heads, v.pieces[at-1])
	}
	return at
}

var htmlTag = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)

// nameList notes whether a line names references, as a heading or by its words alone.
func (p *entry) nameList(line string) {
	if len(line) > 300 || citation.HasAddress(line) {
		return
	}
	shown := strings.TrimSpace(htmlTag.ReplaceAllString(line, ""))
	words := headingLabel(shown)
	if p.names = isReferenceLabel(words); p.names {
		p.doubtful = p.depth == 0 && !strings.ContainsAny(line, "*_<") || softLabels[words]
		p.depth = cmp.Or(p.depth, lineLevel)
	}
}

// headingLabel returns the words of a heading as names of lists are written, without symbols before them.
func headingLabel(s string) string {
	s = strings.TrimLeftFunc(strings.Trim(text.Line(s), "#*_ "), func(r rune) bool {
		return r > 0x7f && !unicode.IsLetter(r) || r == '['
	})
	return strings.ToLower(strings.Trim(report.CleanTitle(s), "_ ]【】"))
}

// listNames is listname.txt: names of lists of references, folded, parted by bars and line breaks.
//
//go:embed listname.txt
var listNames string

// namesList has the names of lists.
var namesList = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsFuncSeq(listNames, func(r rune) bool { return r == '|' || r == '\n' }) {
		names[name] = true
	}
	return names
}()

// softLabels name other things as well: the entries below them must lead somewhere.
var softLabels = map[string]bool{"notes": true, "note": true, "notas": true, "anmerkungen": true, "literature": true,
	"further reading": true, "文献": true, "注释": true, "参考": true, "参照": true, "引用": true}

// isReferenceLabel reports whether a heading's words name a list of references, in any of the languages known here:
// "references", "参考文献", or two names with little between them: "sources and notes".
func isReferenceLabel(label string) bool {
	if note := strings.IndexAny(label, "(（"); note > 0 { // sources (12)
		label = strings.TrimSpace(label[:note])
	}
	if len(label) > 90 || label == "" || namesList[label] {
		return namesList[label]
	}
	for i := range label {
		for j := i; namesList[strings.TrimSpace(label[:i])] && j < min(i+8, len(label)); j++ {
			if namesList[strings.TrimSpace(label[j:])] {
				return true
			}
		}
	}
	return false
}
