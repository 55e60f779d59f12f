package office

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// docxStyle holds the structural properties of a paragraph style.
type docxStyle struct {
	name    string // lower case; English for built-in styles, regardless of Word's language
	parent  string
	outline int // 0 for level 1; -1 if not set
	list    string
	level   int // level in the list; -1 if not set
	run     *xmltree.Element
	ground  bool // paragraphs are shaded
}

type docxStyles map[string]docxStyle

// styles reads the paragraph styles, keyed by id.
func (f *archive) styles(name string) (docxStyles, error) {
	styles := docxStyles{}
	err := f.each(name, "style", func(e *xmltree.Element) {
		styles[e.Attr["styleId"]] = docxStyle{
			name: strings.ToLower(e.Val("name")), parent: e.Val("basedOn"), outline: e.Number("outlineLvl", -1),
			list: e.Val("numId"), level: e.Number("ilvl", -1), run: e.Child("rPr"),
			ground: e.Child("pPr").Child("shd").Name != "",
		}
	})
	return styles, err
}

// whole returns a style with the properties inherited from its base styles.
func (s docxStyles) whole(id string) docxStyle {
	out, ok := s[id]
	if !ok {
		return docxStyle{name: strings.ToLower(id), outline: -1, level: -1}
	}
	if out.outline < 0 { // "heading 2" is a heading even if the outline level is missing
		if n, ok := strings.CutPrefix(out.name, "heading "); ok {
			out.outline = xmltree.Number(n, 0) - 1
		}
	}
	for at, depth := out.parent, 0; at != "" && depth < 20; depth++ {
		p := s[at]
		if out.outline < 0 {
			out.outline = p.outline
		}
		if out.list == "" {
			out.list = p.list
		}
		if out.level < 0 {
			out.level = p.level
		}
		at = p.parent
	}
	return out
}

// look returns how text with a style looks that otherwise looks like k.
func (s docxStyles) look(k look, id string) look { return s.inherit(k, id, 20) }

func (s docxStyles) inherit(k look, id string, depth int) look {
	style, ok := s[id]
	if !ok || depth == 0 {
		return k
	}
	k.ground = k.ground || style.ground
	return s.inherit(k, style.parent, depth-1).with(style.run)
}

// with returns a look after the run properties of Word.
func (k look) with(properties *xmltree.Element) look {
	for _, e := range properties.Kids {
		val := e.Attr["val"]
		on := val == "" || isOn(val)
		switch e.Name {
		case "vanish":
			k.hidden = on
		case "strike", "dstrike":
			k.struck = on
		case "vertAlign":
			k.raised = val == "superscript"
		case "position":
			k.raised = xmltree.Number(val, 0) > 0
		case "sz":
			k.tiny = xmltree.Number(val, 99) <= 2
		case "color":
			k.white = strings.EqualFold(val, "ffffff") || strings.EqualFold(e.Attr["rgb"], "ffffffff") ||
				e.Attr["theme"] == "0"
		case "shd", "highlight":
			k.ground = true
		case "rFonts":
			k.font = cmp.Or(e.Attr["ascii"], e.Attr["hAnsi"], k.font)
		}
	}
	return k
}

// codeStyles are the names of the styles of word processors and converters for code.
var codeStyles = map[string]bool{
	"source code": true, "sourcecode": true, "code": true, "code block": true, "html preformatted": true,
	"macro text": true, "macro": true, "preformatted text": true, "preformatted_20_text": true, "listing": true,
}

func (s docxStyle) code() bool { return codeStyles[s.name] }

// contents reports whether a style is used for entries of a table of contents, table of figures or index.
func (s docxStyle) contents() bool {
	return strings.HasPrefix(s.name, "toc ") || s.name == "table of figures" || strings.HasPrefix(s.name, "index ")
}

// docxLists holds the numbering formats of a document's lists and their current counts.
type docxLists struct {
	levels map[string]map[int]docxLevel // keyed by abstract list
	lists  map[string]*docxList
	counts map[string]*[9]int // keyed by abstract list
}

type docxList struct {
	abstract string
	starts   map[int]int // overridden start numbers; nil once they are in the counts
}

type docxLevel struct {
	format string
	text   string // "%1.%2"
	start  int
}

// numbering reads the numbering formats.
func (f *archive) numbering(name string) (*docxLists, error) {
	l := &docxLists{
		levels: map[string]map[int]docxLevel{}, lists: map[string]*docxList{}, counts: map[string]*[9]int{},
	}
	err := f.each(name, "abstractNum num", func(e *xmltree.Element) {
		if e.Name == "num" {
			list := &docxList{abstract: e.Val("abstractNumId"), starts: map[int]int{}}
			for _, level := range e.All("lvlOverride") {
				if start := level.Find("startOverride"); start.Name != "" {
					list.starts[xmltree.Number(level.Attr["ilvl"], 0)] = xmltree.Number(start.Attr["val"], 1)
				}
			}
			l.lists[e.Attr["numId"]] = list
			return
		}
		levels := map[int]docxLevel{}
		for _, level := range e.All("lvl") {
			levels[xmltree.Number(level.Attr["ilvl"], 0)] = docxLevel{
				format: level.Val("numFmt"), text: level.Val("lvlText"), start: level.Number("start", 1),
			}
		}
		l.levels[e.Attr["abstractNumId"]] = levels
	})
	return l, err
}

// next advances a list and returns the printed number of the item, such as "1.2." or "b)". It returns "-" for a bullet
// and "" for an item without a number or list.
func (l *docxLists) next(list string, level int) string {
	o := l.lists[list]
	if o == nil || list == "0" || level < 0 || level > 8 {
		return ""
	}
	levels, counts := l.levels[o.abstract], l.counts[o.abstract]
	if counts == nil {
		counts = &[9]int{}
		l.counts[o.abstract] = counts
	}
	for _, k := range slices.Sorted(maps.Keys(o.starts)) {
		if k >= 0 && k < len(counts) {
			counts[k] = o.starts[k] - 1
			clear(counts[k+1:])
		}
	}
	o.starts = nil
	if counts[level] == 0 {
		counts[level] = max(0, levels[level].start-1)
	}
	counts[level]++
	clear(counts[level+1:])
	switch levels[level].format {
	case "bullet", "":
		return "-"
	case "none":
		return ""
	}
	out := levels[level].text
	for i := 0; i <= level; i++ {
		n := counts[i]
		if n == 0 {
			n = max(1, levels[i].start)
		}
		out = strings.ReplaceAll(out, "%"+strconv.Itoa(i+1), printed(n, levels[i].format))
	}
	return strings.TrimSpace(out)
}

// printed formats a number in one of Word's number formats.
func printed(n int, format string) string {
	s := strconv.Itoa(n)
	switch format {
	case "lowerLetter", "upperLetter":
		s = strings.Repeat(string(rune('a'+(n-1)%26)), min((n-1)/26+1, 5))
	case "lowerRoman", "upperRoman":
		s = roman(n)
	}
	if strings.HasPrefix(format, "upper") {
		return strings.ToUpper(s)
	}
	return s
}

// romanDigits are the values and signs of Roman numerals, with the pairs that stand for a difference.
var romanDigits = []struct {
	value int
	text  string
}{
	{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"},
	{9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"},
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, r := range romanDigits {
		for ; n >= r.value; n -= r.value {
			b.WriteString(r.text)
		}
	}
	return b.String()
}
