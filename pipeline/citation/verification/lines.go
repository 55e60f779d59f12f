package verification

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/text"
)

// reading is a text with its lines, as it is searched for lists of references.
type reading struct {
	*markup.Scanned
	r     *citation.Registry
	lines []line
	lists []*refSection // in order
	units int
	notes map[int]string // names of footnotes in the text as it came, by the numbers that they were given
}

// line is a line of the text: bytes start to end, without its line break.
type line struct {
	start, end int
	code       bool     // begins within a code block
	head       *heading // nil: it could not name what follows it
	label      *label   // nil: it does not begin an entry
	leads      int8     // whether it leads somewhere; 0 = not yet known
	row        bool     // of a table, below its head
	unit       int      // the item of a list, or the paragraph, that has it; 0: none
}

// heading is a line, or a line and its underline, that could name what follows it.
type heading struct {
	label string // folded, without markup
	level int    // 1 to 6; 7: bold or plain text on a line of its own
	plain bool   // nothing but its words makes it a heading
	lines int
}

func newReading(r *citation.Registry, source string) *reading {
	t := &reading{Scanned: scan(r, source), r: r}
	code := t.Code
	for start := 0; start <= len(source); {
		raw, _, _ := strings.Cut(source[start:], "\n")
		l := line{start: start, end: start + len(raw)}
		if c, ok := code.At(start); ok && c[1] >= l.end {
			l.code = source[c[0]] != '`' || strings.HasPrefix(source[c[0]:], "```")
		}
		if l.label = entryStart(raw); !l.code {
			l.head = headingOf(raw)
		}
		t.lines = append(t.lines, l)
		start = l.end + 1
	}
	_ = ast.Walk(t.Tree, t.markup)
	t.lists = t.headed()
	if s := t.definitions(t.lists); s != nil {
		t.lists = append(t.lists, s)
	}
	return t
}

// markup notes which lines are headings and rows of tables.
func (t *reading) markup(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.ListItem:
		if n.Parent().Parent().Kind() != ast.KindListItem {
			t.units++
		}
	case *ast.Paragraph, *ast.TextBlock:
		if n.Parent().Kind() != ast.KindListItem {
			t.units++
		}
		for i := range n.Lines().Len() {
			t.lines[t.lineAt(n.Lines().At(i).Start+1)-1].unit = t.units
		}
	case *extension.TableRow:
		t.lines[t.lineAt(n.Pos()+1)-1].row = true
	case *ast.Heading:
		if n.Lines().Len() != 1 { // several lines are a paragraph above a rule
			break
		}
		words := n.Lines().At(0)
		at := &t.lines[t.lineAt(words.Start+1)-1]
		at.head = &heading{label: headingLabel(t.Markdown[words.Start:words.Stop]), level: n.Level, lines: 1}
		if strings.IndexByte(t.Markdown[at.start:words.Start], '#') < 0 {
			at.head.lines = 2
		}
	}
	return ast.WalkContinue, nil
}

// changed returns a reading of the changed text.
func (t *reading) changed(source string) *reading {
	if source == t.Markdown {
		return t
	}
	changed := newReading(t.r, source)
	changed.notes = t.notes
	return changed
}

// lineAt returns the first line that begins at a byte or behind it.
func (t *reading) lineAt(pos int) int {
	i, _ := slices.BinarySearchFunc(t.lines, pos, func(l line, pos int) int { return l.start - pos })
	return i
}

// line returns line i.
func (t *reading) line(i int) string { return t.Markdown[t.lines[i].start:t.lines[i].end] }

// isBlank reports whether line i shows nothing.
func (t *reading) isBlank(i int) bool { return strings.TrimSpace(t.line(i)) == "" }

// isHeading reports whether markup makes line i a heading.
func (t *reading) isHeading(i int) bool { return t.lines[i].head != nil && !t.lines[i].head.plain }

// names reports whether line i could be the heading of a list of references.
func (t *reading) names(i int) bool {
	return t.lines[i].head != nil && isReferenceLabel(t.lines[i].head.label)
}

// leads reports whether line i, without its label, names an address or a document.
func (t *reading) leads(i int) bool {
	l := &t.lines[i]
	if l.leads == 0 {
		words := t.line(i)
		if l.label != nil {
			words = words[len(l.label.raw):]
		}
		l.leads = -1
		if strings.TrimSpace(words) != "" && hasTarget(t.r, words) {
			l.leads = 1
		}
	}
	return l.leads > 0
}

var (
	emphasisLine = regexp.MustCompile(`^ {0,3}(?:\*{1,3}|_{1,3})([^*_]{1,60})(?:\*{1,3}|_{1,3})[ \t]*[:：]?[ \t]*$`)
	htmlHeading  = regexp.MustCompile(`(?i)^ {0,3}<h([1-6])[^>]*>([^<]{1,80})</h[1-6]>[ \t]*$`)
	rule         = regexp.MustCompile(`^ {0,3}(?:=+|-{2,})[ \t]*$`)
	numbering    = regexp.MustCompile(`^(?:(?:[0-9]{1,2}(?:\.[0-9]{1,2})*[.)]?|[ivxIVX]{1,5}[.)]|[A-Z][.)]` +
		`|[一二三四五六七八九十]{1,3}[、.．])\s*)`)
)

// headingOf reads a line that is a heading by its tags, its emphasis or its words alone.
func headingOf(raw string) *heading {
	if len(raw) > 300 || strings.TrimSpace(raw) == "" {
		return nil
	}
	h := &heading{level: 7, lines: 1}
	if m := htmlHeading.FindStringSubmatch(raw); m != nil {
		h.level, raw = int(m[1][0]-'0'), m[2]
	} else if m := emphasisLine.FindStringSubmatch(raw); m != nil {
		raw = m[1]
	} else if h.plain = true; len(raw) > 80 {
		return nil
	}
	h.label = headingLabel(raw)
	return h
}

func headingLabel(s string) string {
	s = strings.Trim(text.Line(s), "*_ ")
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r > 0x7f && !unicode.IsLetter(r) || r == '[' })
	s = numbering.ReplaceAllString(strings.TrimSpace(s), "")
	return strings.ToLower(strings.Trim(s, "*_:：. ]【】"))
}

// listNames is listname.txt: names of lists of references, folded, parted by bars and line breaks.
//
//go:embed listname.txt
var listNames string

// referenceLabels are the names of lists, firstWords the first words of all names.
var referenceLabels, firstWords = func() (labels, words map[string]bool) {
	labels, words = map[string]bool{}, map[string]bool{}
	for label := range strings.FieldsFuncSeq(listNames, func(r rune) bool { return r == '|' || r == '\n' }) {
		labels[label], words[firstWord(label)] = true, true
	}
	return labels, words
}()

// firstWord returns the beginning of a label up to what may follow or join one.
func firstWord(label string) string {
	for i, r := range label {
		if r <= ' ' || strings.ContainsRune("/&|,・(（和与及", r) {
			return label[:i]
		}
	}
	return label
}

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
	if referenceLabels[label] {
		return true
	}
	if len(label) > 90 || !firstWords[firstWord(label)] { // nearly every line of a report
		return false
	}
	if m := labelNote.FindStringSubmatch(label); m != nil && isReferenceLabel(m[1]) {
		return true
	}
	return !slices.ContainsFunc(labelJoin.Split(label, -1), func(p string) bool { return !referenceLabels[p] })
}
