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

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/text"
)

// entry is one item of a list of references, or a footnote.
type entry struct {
	start, end int // bytes of its lines, without the last line break
	label
	at   int // position in the text, from 1
	list int // position of its list; footnotes have one of their own

	target
	final int    // number in the result; 0: none
	same  *entry // the entry that this one duplicates
}

// label is what an entry begins with.
type label struct {
	style  string      // entries of a list have the same
	number int         // as written; noNumber if it has none
	digits markup.Span // bytes of the number
	id     string      // canonical citation id
	name   string      // of a footnote
	anchor markup.Span // bytes of the number in an HTML anchor before it
	body   int         // byte at which the text begins
}

// noNumber is the number of an entry without one; some lists count from 0.
const noNumber = -1

// isNote reports whether the entry is that of markers such as [^1].
func (l label) isNote() bool { return l.style == noteStyle }

// listStyle returns the style of a list with such a label: notes may stand among others.
func (l label) listStyle() string {
	if l.isNote() {
		return bracketStyle
	}
	return l.style
}

const (
	bracketStyle = "["
	noteStyle    = "^"
	orderedStyle = "."
	rowStyle     = "|"
	bulletStyle  = "-"
)

// line is a line of the text, and what it could be.
type line struct {
	start, end int
	text       string
	code       bool
	level      int    // of a heading: 1 to 6; lineLevel: a line that looks like one
	names      bool   // it names a list of references
	doubtful   bool   // it could name something else
	label      *label // of an entry
}

var (
	labelForm = regexp.MustCompile(`^[ \t>]{0,8}(?:[-*+•][ \t]+|#{3,6}[ \t]+|\|[ \t]*|<(?:li|p)>[ \t]*)?` +
		`(?:<a (?:id|name)=["'](?:[^"'<>]*?([0-9]*))["']>[ \t]*</a>[ \t]*)?(?:\*\*|__)?` +
		`(?:\\?[\[【［]{1,2}(\^?)#?(?:([0-9٠-٩۰-۹०-९]{1,4})|((?i:CIT|PLAN)-[-0-9]{1,20}))(?:†[^】]*)?\\?[\]】］]` +
		`(?:\(#[^)\s]*\))?\]?` +
		`|([0-9]{1,4})(?:[.):](?:\*\*|__)?(?:[ \t]+|$)|、|．|[ \t]*\|)|[(（]([0-9]{1,4})[)）])(?:\*\*|__)?[.:：]?[ \t]*`)
	noteForm   = regexp.MustCompile(`^ {0,3}\[\^([^\[\]\s^]{1,80})\]:[ \t]*`)
	bulletForm = regexp.MustCompile(`^[ \t>]{0,8}(?:[-*+•][ \t]+|<li>[ \t]*|\|[ \t]*)`)
)

// readLines splits the text.
func (v *verifier) readLines() {
	levels := map[int]int{}
	_ = ast.Walk(v.Tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering && h.Lines().Len() == 1 {
			levels[strings.LastIndexByte(v.Markdown[:h.Lines().At(0).Start], '\n')+1] = h.Level
		}
		return ast.WalkContinue, nil
	})
	start := 0
	for raw := range strings.SplitSeq(v.Markdown, "\n") {
		fence := strings.HasPrefix(strings.TrimLeft(raw, " \t>"), "```")
		code := v.Code.Has(start) && (fence || !strings.HasPrefix(raw, "`")) // the line does not begin with inline code
		parts := []int{0}
		if !code {
			parts = v.parts(raw)
		}
		for i, at := range parts {
			end := len(raw)
			if i+1 < len(parts) {
				end = parts[i+1]
			}
			l := line{start: start + at, end: start + end, text: raw[at:end], code: code}
			if !code {
				l.level = levels[l.start]
				l.heading()
				l.label = labelOf(l.text, l.start)
			}
			v.lines = append(v.lines, l)
		}
		start += len(raw) + 1
	}
}

// another is the label of a further entry on the same line.
var another = regexp.MustCompile(`[ \t;,|]+\[([0-9]{1,3})\][ \t:]+`)

// parts returns where the entries of a list begin that share a line, also behind its heading: "**Sources:** [1] ...".
func (v *verifier) parts(raw string) []int {
	parts, last, from := []int{0}, noNumber, 0
	if l := labelOf(raw, 0); l != nil && l.style == bracketStyle {
		last, from = l.number, l.body
	}
	for _, m := range another.FindAllStringSubmatchIndex(raw, -1) {
		n := markup.Number(raw[m[2]:m[3]])
		follows := last >= 0 && n > last && m[0] >= from && v.leads(raw[from:m[0]])
		heads := last < 0 && m[0] < 100 && isReferenceLabel(headingLabel(raw[:m[0]])) && v.leads(raw[m[1]:])
		if follows || heads {
			parts, last, from = append(parts, m[2]-1), n, m[1]
		}
	}
	return parts
}

// labelOf reads the label of an entry.
func labelOf(raw string, start int) *label {
	if m := noteForm.FindStringSubmatchIndex(raw); m != nil {
		l := &label{style: noteStyle, number: noNumber, name: raw[m[2]:m[3]], body: start + m[1]}
		if strings.Trim(l.name, "0123456789") == "" {
			l.number, l.name, l.digits = markup.Number(l.name), "", markup.Span{start + m[2], start + m[3]}
		}
		return l
	}
	m := labelForm.FindStringSubmatchIndex(raw)
	if m == nil {
		return nil
	}
	l := &label{style: bracketStyle, number: noNumber, body: start + m[1]}
	if m[2] < m[3] {
		l.anchor = markup.Span{start + m[2], start + m[3]}
	}
	if m[8] >= 0 {
		l.id = markup.Canonical(raw[m[8]:m[9]])
		return l
	}
	at := max(m[6], m[10], m[12])
	l.digits = markup.Span{start + at, start + max(m[7], m[11], m[13])}
	l.number = markup.Number(raw[at : l.digits[1]-start])
	switch {
	case strings.HasPrefix(strings.TrimSpace(raw), "|"):
		l.style = rowStyle
	case m[6] < 0:
		l.style = orderedStyle
	}
	return l
}

// extent returns the last line of the entry that begins in line i: lines of its paragraph or item, and an address below
// it if it has none.
func (v *verifier) extent(i, until int) int {
	last, blank := i, false
	row := strings.HasPrefix(strings.TrimSpace(v.lines[i].text), "|")
	for j := i + 1; j < until && !row; j++ {
		l := v.lines[j]
		words := strings.TrimSpace(l.text)
		if words == "" {
			blank = true
			continue
		}
		address := onlyAddress.MatchString(words) && !v.leads(v.Markdown[v.lines[i].start:v.lines[last].end])
		if !address && (l.begins() || blank && !l.indented()) {
			break
		}
		last, blank = j, false
	}
	return last
}

// begins reports whether a line begins something of its own: a heading, an entry, an item, code.
func (l line) begins() bool {
	switch {
	case l.code, l.label != nil, l.names, l.isHeading(), linkLabel.MatchString(l.text):
		return true
	}
	return strings.HasPrefix(strings.TrimSpace(l.text), "</") || !l.indented() && bulletForm.MatchString(l.text)
}

// lineLevel is the level of a line that names references without being a heading.
const lineLevel = 7

func (l line) isHeading() bool { return l.level > 0 && l.level < lineLevel }

func (l line) indented() bool {
	return strings.HasPrefix(l.text, "  ") || strings.HasPrefix(l.text, "\t")
}

var onlyAddress = regexp.MustCompile(`(?i)^[-*+•]?\s*[<` + "`" + `*]*(?:https?://|www\.)\S+$`)

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
	v.readLines()
	for i := 0; i < len(v.lines); i++ {
		if h := v.lines[i]; h.names {
			until := i + 1
			for until < len(v.lines) && (v.lines[until].level == 0 || v.lines[until].level > h.level) {
				until++
			}
			if found := v.section(i+1, until, h.doubtful); len(found) > 0 {
				v.sections = append(v.sections, markup.Span{h.start, found[len(found)-1].end})
				v.add(found)
				i = until - 1
			}
		}
	}
	tail := len(v.lines)
	if len(v.entries) == 0 {
		tail = v.tail()
	}
	var notes []*entry
	sections := v.sections
	for i := 0; i < len(v.lines); i++ {
		l := v.lines[i]
		if l.label == nil || sections.Has(l.start) {
			continue
		}
		link := linkLabel.MatchString(l.text) && citation.HasAddress(l.text)
		if i < tail && !l.label.isNote() && !link {
			continue
		}
		last := v.extent(i, len(v.lines))
		e := &entry{start: l.start, end: v.lines[last].end, label: *l.label}
		if e.name == "" || v.leads(v.Markdown[e.body:e.end]) {
			notes = append(notes, e)
		}
		i = last
	}
	v.add(notes)
	slices.SortFunc(v.entries, func(a, b *entry) int { return a.start - b.start })
	top := 0
	for i, e := range v.entries {
		e.at, top = i+1, max(top, e.number)
	}
	for _, e := range v.entries {
		isSame := func(o *entry) bool { return !o.isNote() && o.number == e.number && e.number >= 0 }
		if e.isNote() && e.name == "" && slices.ContainsFunc(v.entries, isSame) {
			e.name, e.digits = strconv.Itoa(e.number), markup.Span{}
		}
		if e.name != "" {
			top++
			e.number = top
		}
	}
}

// linkLabel is the label of a link's address or of a footnote.
var linkLabel = regexp.MustCompile(`^ {0,3}\[[^\[\]\s]{1,80}\]:`)

func (v *verifier) add(list []*entry) {
	for _, e := range list {
		e.list = v.lists
	}
	v.entries, v.lists = append(v.entries, list...), v.lists+1
}

// section reads the entries in a range of lines below a heading. Text between them belongs to the report and stays.
// Not every entry leads somewhere, but other text has numbers, too. Entries without a number or bullet are paragraphs
// with an address in each line.
func (v *verifier) section(first, until int, doubtful bool) (found []*entry) {
	isSource := func(l line) bool { return l.label != nil && v.leads(l.text) }
	listed := !doubtful || slices.ContainsFunc(v.lines[first:until], isSource)
	style, last, prose := "", noNumber, false // prose: there was other text since the last entry
	for i := first; i < until; i++ {
		l := v.lines[i]
		if strings.TrimSpace(l.text) == "" || l.code {
			prose = prose || l.code
			continue
		}
		own := cmp.Or(l.label, bulletOf(l))
		if own != nil && (style == "" || style == own.listStyle()) {
			end := v.extent(i, until)
			e := &entry{start: l.start, end: v.lines[end].end, label: *own}
			if style == orderedStyle && !prose && e.number == found[0].number {
				e.number = last + 1 // Markdown allows lists numbered 1. 1. 1.
			}
			goesOn := listed
			if style != "" {
				goesOn = style == bracketStyle || e.number > last
			}
			certain := e.id != "" || v.leads(v.Markdown[e.body:e.end])
			if certain || !prose && goesOn && l.label != nil {
				found, style, last, prose = append(found, e), own.listStyle(), max(last, e.number), false
				i = end
				continue
			}
		}
		if len(found) == 0 && doubtful {
			return nil // a single word above a paragraph is not a heading
		}
		prose = prose || !strings.HasPrefix(strings.TrimSpace(l.text), "|")
	}
	if len(found) > 0 {
		return found
	}
	start := -1
	for _, l := range v.lines[first:until] {
		if start < 0 {
			start = l.start
		}
		if strings.TrimSpace(l.text) == "" || l.code || l.isHeading() {
			start = -1
		} else if citation.HasAddress(l.text) {
			found = append(found, &entry{start: start, end: l.end, label: label{number: noNumber, body: start}})
			start = -1
		}
	}
	return found
}

// bulletOf returns the label of an item or row without a number; nil if the line begins none.
func bulletOf(l line) *label {
	m := bulletForm.FindString(l.text)
	if m == "" {
		return nil
	}
	own := &label{style: bulletStyle, number: noNumber, body: l.start + len(m)}
	if strings.Contains(m, "|") {
		own.style = rowStyle
	}
	return own
}

// tail returns the line at which the list begins that ends the text without a heading, and the number of lines where
// there is none. Entries with labels such as [1] each lead somewhere. A numbered list, which may be one of other
// things, counts from 1, has an address in each item, and the text above it cites by its numbers.
func (v *verifier) tail() int {
	at, style := len(v.lines), ""
	end := len(strings.TrimRight(v.Markdown, " \t\n"))
	for i := len(v.lines) - 1; i >= 0; i-- {
		l := v.lines[i]
		if l.label == nil || style != "" && l.label.style != style {
			if l.start < end && (l.code || l.isHeading()) {
				break
			}
			continue
		}
		if v.lines[v.extent(i, len(v.lines))].end < end {
			break // there is text between
		}
		body := v.Markdown[l.label.body:max(l.label.body, end)]
		numbered := l.label.style == orderedStyle && citation.HasAddress(body)
		if !(numbered || l.label.style == bracketStyle && v.leads(body)) {
			break
		}
		at, style, end = i, l.label.style, len(strings.TrimRight(v.Markdown[:l.start], " \t\n"))
		if style == orderedStyle && l.label.number == 1 {
			break
		}
	}
	cites := func(k markup.Token) bool { return k.Start < v.lines[at].start && len(k.Numbers) > 0 }
	if style == orderedStyle && (v.lines[at].label.number != 1 || !slices.ContainsFunc(v.Tokens, cites)) {
		return len(v.lines)
	}
	return at
}

var (
	htmlTag   = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	numbering = regexp.MustCompile(`^(?:(?:[0-9]{1,2}(?:\.[0-9]{1,2})*[.)]?|[ivxIVX]{1,5}[.)]|[A-Z][.)]` +
		`|[一二三四五六七八九十]{1,3}[、.．])\s*)`)
)

// heading notes whether a line names references, as a heading or by its words alone.
func (l *line) heading() {
	if len(l.text) > 300 {
		return
	}
	shown := strings.TrimSpace(htmlTag.ReplaceAllString(l.text, ""))
	words := headingLabel(shown)
	if l.names = isReferenceLabel(words); l.names {
		plain := l.level == 0 && shown == l.text && strings.Trim(shown, "*_:： ") == strings.Trim(shown, ":： ")
		l.doubtful = plain || softLabels[words]
		l.level = cmp.Or(l.level, lineLevel)
	}
}

func headingLabel(s string) string {
	s = strings.Trim(text.Line(s), "#*_ ")
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r > 0x7f && !unicode.IsLetter(r) || r == '[' })
	s = numbering.ReplaceAllString(strings.TrimSpace(s), "")
	return strings.ToLower(strings.Trim(s, "*_:：. ]【】"))
}

// listNames is listname.txt: names of lists of references, folded, parted by bars and line breaks.
//
//go:embed listname.txt
var listNames string

// referenceLabels are the names of lists, and what those begin with that join several.
var referenceLabels = func() map[string]bool {
	labels := map[string]bool{}
	for label := range strings.FieldsFuncSeq(listNames, func(r rune) bool { return r == '|' || r == '\n' }) {
		labels[label] = true
	}
	return labels
}()

// softLabels name other things as well: the entries below them must lead somewhere.
var softLabels = map[string]bool{"notes": true, "note": true, "notas": true, "anmerkungen": true, "literature": true,
	"further reading": true, "文献": true, "注释": true, "参考": true, "参照": true, "引用": true}

var (
	// labelNote is what stands behind a label in brackets: "sources (12)".
	labelNote = regexp.MustCompile(`^([^(（]+?)\s*[(（][^()（）/]{0,40}[)）]$`)
	labelJoin = regexp.MustCompile(`\s*(?:[/&|,・]|\b(?:and|und|et|y|e|en|och|og)\b|\s(?:и|та|i|و)\s|\sو|\s및\s` +
		`|和|与|及)\s*`)
)

// isReferenceLabel reports whether a heading's words name a list of references, in any of the languages known here:
// "references", "sources and notes", "参考文献". "sources of income" does not.
func isReferenceLabel(label string) bool {
	if len(label) > 90 || label == "" || referenceLabels[label] {
		return referenceLabels[label]
	}
	if m := labelNote.FindStringSubmatch(label); m != nil {
		label = m[1]
	}
	return !slices.ContainsFunc(labelJoin.Split(label, -1), func(p string) bool { return !referenceLabels[p] })
}
