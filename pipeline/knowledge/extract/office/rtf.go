package office

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	textset "nightdesk/pipeline/knowledge/extract/charset"
	"nightdesk/pipeline/knowledge/extract/document"
	"nightdesk/pipeline/knowledge/extract/xmltree"
)

// maxGroups is the maximum nesting of groups in an RTF file.
const maxGroups = 1000

// RTF extracts a document in Rich Text Format. The error wraps ErrDamaged or charset.ErrBinary.
func RTF(data []byte) (document.Document, error) {
	if !IsRTF(data) {
		return document.Document{}, fmt.Errorf("%w: no RTF", textset.ErrBinary)
	}
	r := &rtfReader{
		data: data, b: document.NewBuilder(), line: &line{}, page: charmap.Windows1252,
		fonts: map[int]rtfFont{}, styles: map[int]int{},
	}
	r.states = []rtfState{{skipAfter: 1}}
	for len(r.data) > 0 && len(r.states) > 0 {
		if len(r.states) > maxGroups {
			return document.Document{}, fmt.Errorf("%w: nested too deep", document.ErrDamaged)
		}
		r.next()
	}
	r.flushBytes()
	if len(r.row.cells) > 0 { // it is cut off
		r.rows = append(r.rows, r.row)
	}
	r.flushTable()
	r.paragraph()
	r.said.OfFile = true
	r.said.Date = cmp.Or(r.dates["revtim"], r.dates["creatim"])
	return r.b.Document(r.said), nil
}

// IsRTF reports whether a file is in Rich Text Format.
func IsRTF(data []byte) bool { return bytes.HasPrefix(data, []byte(`{\rtf`)) }

// rtfState is what a group inherits and its end restores.
type rtfState struct {
	look
	into      string // destination other than the text: a key of rtfDestinations, or "skip"
	font      int
	skipAfter int // characters after a Unicode character that stand for it
	heading   int // level of the paragraph; 0 for text
	table     bool
	captures  bool // its end ends the last capture
}

type rtfFont struct {
	name string
	page encoding.Encoding // nil for that of the file
}

// rtfCapture is text that is read apart from the line around it.
type rtfCapture struct {
	kind  string
	outer *line
}

// rtfCell is a cell's right edge, and whether it continues the cell before it or above.
type rtfCell struct {
	right         int
	before, above bool
}

type rtfRow struct {
	defined []rtfCell
	cells   []string
	header  bool
}

// rtfReader reads a file.
type rtfReader struct {
	data     []byte
	b        *document.Builder
	states   []rtfState
	line     *line
	captured []rtfCapture
	pending  []byte // bytes in the font's character set
	high     rune   // first half of a surrogate pair
	skip     int    // characters to skip
	page     encoding.Encoding
	fonts    map[int]rtfFont
	styles   map[int]int // heading levels
	style    int
	name     strings.Builder // of the font, style or field that is read
	colors   []bool          // white
	rgb      int
	marker   strings.Builder // of the list item
	notes    []string
	row      rtfRow
	cell     rtfCell // being defined
	rows     []rtfRow
	said     document.Metadata
	dates    map[string]string
	date     [3]int
}

// rtfSkipped are destinations without text of the document.
var rtfSkipped = document.Set(`pict objdata header headerl headerr headerf footer footerl footerr footerf fldinst
	bkmkstart bkmkend xe tc tcn nonesttables themedata colorschememapping datastore latentstyles listtable
	listoverridetable revtbl rsidtbl generator annotation atnid atnauthor atntime atnref background sp shprslt mmathPr
	mmathPict filetbl falt panose formfield pn nesttableprops private xmlnstbl wgrffmtfilter userprops operator keywords
	subject comment doccomm category manager hlinkbase`)

// rtfDestinations are destinations with text that is used.
var rtfDestinations = document.Set("fonttbl colortbl stylesheet title author company creatim revtim listtext pntext")

// rtfCaptured are destinations whose text is read apart; the value stands before it in a formula.
var rtfCaptured = map[string]string{
	"footnote": "", "shptxt": "", "mnum": "", "mden": "/", "msup": "^", "msub": "_", "mdeg": "",
}

// rtfText are control words that stand for characters.
var rtfText = map[string]string{
	"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’",
	"ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ", "~": " ", "_": "-",
	"nestcell": " ", "nestrow": "\n",
}

// rtfPages are the character sets of fonts.
var rtfPages = map[int]string{
	77: "macintosh", 128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5", 161: "windows-1253", 162: "windows-1254",
	163: "windows-1258", 177: "windows-1255", 178: "windows-1256", 186: "windows-1257", 204: "windows-1251",
	222: "windows-874", 238: "windows-1250",
}

// codePage returns the encoding of a code page of Windows.
func codePage(n int) encoding.Encoding {
	label := map[int]string{
		932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 65001: "utf-8", 10000: "macintosh",
	}[n]
	switch n {
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	}
	enc, _ := charset.Lookup(cmp.Or(label, "windows-"+strconv.Itoa(n)))
	if enc == nil {
		return charmap.Windows1252
	}
	return enc
}

func (r *rtfReader) state() *rtfState { return &r.states[len(r.states)-1] }

// next reads a character, control word, or the start or end of a group.
func (r *rtfReader) next() {
	c := r.data[0]
	r.data = r.data[1:]
	if c == '{' || c == '}' {
		r.flushBytes()
		r.skip = 0
	}
	switch c {
	case '{':
		s := *r.state()
		s.captures = false
		r.states = append(r.states, s)
	case '}':
		r.end()
	case '\\':
		r.control()
	case '\r', '\n', 0:
	default:
		r.char(c)
	}
}

// char adds a byte in the character set of the font.
func (r *rtfReader) char(c byte) {
	if r.skip > 0 {
		r.skip--
		return
	}
	if c < 0x80 && !r.symbolic() {
		r.flushBytes()
		n := 0
		if r.state().into == "" {
			if n = bytes.IndexFunc(r.data, rtfSpecial); n < 0 {
				n = len(r.data)
			}
		}
		r.write(string(c) + string(r.data[:n]))
		r.data = r.data[n:]
		return
	}
	r.pending = append(r.pending, c)
}

// rtfSpecial reports whether a character is not itself.
func rtfSpecial(c rune) bool { return strings.ContainsRune("\\{}\r\n\x00", c) || c >= 0x80 }

// symbolic reports whether the font has signs instead of letters.
func (r *rtfReader) symbolic() bool {
	name := strings.ToLower(r.fonts[r.state().font].name)
	return strings.HasPrefix(name, "symbol") || strings.HasPrefix(name, "wingdings")
}

// flushBytes writes the pending bytes.
func (r *rtfReader) flushBytes() {
	if len(r.pending) == 0 {
		return
	}
	font := r.fonts[r.state().font]
	var text []rune
	if r.symbolic() {
		for _, c := range r.pending {
			text = append(text, rune(c))
		}
	} else {
		page := r.page
		if font.page != nil {
			page = font.page
		}
		plain, _ := page.NewDecoder().Bytes(r.pending)
		text = []rune(string(plain))
	}
	r.pending = nil
	r.write(string(text))
}

// end ends a group.
func (r *rtfReader) end() {
	s := *r.state()
	r.states = r.states[:len(r.states)-1]
	switch s.into {
	case "title":
		if r.name.Len() > 0 {
			r.said.Title = document.FileTitle(r.name.String())
		}
		r.name.Reset()
	case "author":
		r.said.AddAuthor(r.name.String())
		r.name.Reset()
	case "creatim", "revtim":
		if r.dates == nil {
			r.dates = map[string]string{}
		}
		r.dates[s.into] = document.ParseDate(fmt.Sprintf("%04d-%02d-%02d", r.date[0], r.date[1], r.date[2]))
	}
	if !s.captures {
		return
	}
	last := r.captured[len(r.captured)-1]
	r.captured = r.captured[:len(r.captured)-1]
	text := r.line.String()
	r.line = last.outer
	switch last.kind {
	case "footnote", "shptxt":
		r.notes = append(r.notes, text)
	case "mdeg":
	default:
		r.line.write(rtfCaptured[last.kind]+atom(text), look{})
	}
}

// write adds text to its destination.
func (r *rtfReader) write(text string) {
	s := r.state()
	switch s.into {
	case "":
		k := s.look
		k.ground = k.ground || s.table
		if r.symbolic() {
			k.font = r.fonts[s.font].name
		}
		r.line.write(text, k)
	case "skip":
	case "listtext", "pntext":
		r.marker.WriteString(signs(text, r.fonts[s.font].name))
	case "colortbl":
		if text == ";" {
			r.colors, r.rgb = append(r.colors, r.rgb == 3*255), 0
		}
	default:
		if list := s.into == "fonttbl" || s.into == "stylesheet"; !list || text != ";" {
			if r.name.Len() < 1000 {
				r.name.WriteString(text)
			}
			return
		}
		name := strings.TrimSpace(r.name.String())
		r.name.Reset()
		if s.into == "fonttbl" {
			r.fonts[s.font] = rtfFont{name, r.fonts[s.font].page}
		} else if n, ok := strings.CutPrefix(strings.ToLower(name), "heading "); ok {
			r.styles[r.style] = xmltree.Number(n, 0)
		}
	}
}

// rtfWord matches a control word with its number and the space that ends it.
var rtfWord = regexp.MustCompile(`^([A-Za-z]{1,40})(-?[0-9]{1,10})? ?`)

// control reads a control word or symbol.
func (r *rtfReader) control() {
	if len(r.data) == 0 {
		return
	}
	c := r.data[0]
	if c|0x20 < 'a' || c|0x20 > 'z' {
		r.data = r.data[1:]
		r.symbol(c)
		return
	}
	m := rtfWord.FindSubmatch(r.data[:min(len(r.data), 60)])
	r.data = r.data[len(m[0]):]
	word := string(m[1])
	value, err := strconv.Atoi(string(m[2]))
	if err != nil {
		value = -1
	}
	if word == "bin" {
		r.data = r.data[min(max(value, 0), len(r.data)):]
		return
	}
	r.flushBytes()
	if word == "u" {
		r.unicode(value)
		return
	}
	r.word(word, value)
}

// symbol reads a control symbol.
func (r *rtfReader) symbol(c byte) {
	switch c {
	case '\'':
		if len(r.data) >= 2 {
			if code, err := strconv.ParseUint(string(r.data[:2]), 16, 8); err == nil {
				r.data = r.data[2:]
				if r.skip > 0 {
					r.skip--
				} else {
					r.pending = append(r.pending, byte(code))
				}
			}
		}
	case '*':
		r.optional()
	case '\r', '\n':
		r.word("par", -1)
	case '{', '}', '\\':
		r.char(c)
	default:
		r.flushBytes()
		if text := rtfText[string(rune(c))]; text != "" {
			r.write(text)
		}
	}
}

// optional skips a destination that readers need not know, unless this one does.
func (r *rtfReader) optional() {
	rest := bytes.TrimLeft(r.data[:min(len(r.data), 60)], "\\ \r\n")
	end := bytes.IndexFunc(rest, func(c rune) bool { return c|0x20 < 'a' || c|0x20 > 'z' })
	word := string(rest[:max(end, 0)])
	_, known := rtfCaptured[word]
	if !known && !rtfDestinations[word] && word != "shpinst" && !strings.HasPrefix(word, "moMath") {
		r.state().into = "skip"
	}
}

// unicode writes a UTF-16 code unit.
func (r *rtfReader) unicode(value int) {
	unit := rune(uint16(value))
	r.skip = r.state().skipAfter
	if utf16.IsSurrogate(unit) {
		if r.high == 0 {
			r.high = unit
			return
		}
		unit = utf16.DecodeRune(r.high, unit)
	}
	r.high = 0
	r.write(string(unit))
}

// word follows a control word. value is -1 if it has none.
func (r *rtfReader) word(word string, value int) {
	s := r.state()
	_, captured := rtfCaptured[word]
	switch {
	case s.into == "skip":
	case rtfSkipped[word] || strings.HasPrefix(word, "m") && strings.HasSuffix(word, "Pr"):
		s.into = "skip"
	case rtfDestinations[word]:
		s.into = word
		r.date = [3]int{}
	case captured && !s.captures && len(r.states) > 1:
		s.captures, s.into = true, ""
		s.look, s.heading = look{ground: word == "shptxt"}, 0
		r.captured = append(r.captured, rtfCapture{word, r.line})
		r.line = &line{}
	case rtfText[word] != "":
		r.write(rtfText[word])
	case s.into != "":
		r.table(word, value)
	case r.layout(word, value):
	default:
		r.format(word, value)
	}
}

// table reads the fonts, colors, styles and dates of the head.
func (r *rtfReader) table(word string, value int) {
	s := r.state()
	switch word {
	case "f":
		s.font = value
	case "fcharset":
		if label := rtfPages[value]; label != "" {
			enc, _ := charset.Lookup(label)
			r.fonts[s.font] = rtfFont{r.fonts[s.font].name, enc}
		}
	case "red", "green", "blue":
		r.rgb += max(value, 0)
	case "s":
		r.style = value
	case "outlinelevel":
		r.styles[r.style] = value + 1
	case "yr":
		r.date[0] = value
	case "mo":
		r.date[1] = value
	case "dy":
		r.date[2] = value
	}
}

// layout follows the control words of paragraphs and tables, and reports whether it is one.
func (r *rtfReader) layout(word string, value int) bool {
	s := r.state()
	switch word {
	case "par", "sect", "page":
		if s.table || len(r.captured) > 0 {
			r.line.write("\n", look{})
		} else {
			r.flushTable()
			r.paragraph()
		}
	case "pard":
		s.table, s.heading = false, 0
	case "intbl":
		s.table = true
	case "s":
		s.heading = r.styles[value]
	case "outlinelevel":
		s.heading = value + 1
	case "trowd":
		r.row.defined, r.row.header, r.cell = nil, false, rtfCell{}
		s.table = true
	case "trhdr":
		r.row.header = true
	case "clmrg":
		r.cell.before = true
	case "clvmrg":
		r.cell.above = true
	case "cellx":
		r.cell.right = value
		if len(r.row.defined) < maxColumns {
			r.row.defined = append(r.row.defined, r.cell)
		}
		r.cell = rtfCell{}
	case "cell":
		if text := r.line.String(); len(r.captured) == 0 {
			r.row.cells = append(r.row.cells, text)
			r.line = &line{}
			r.marker.Reset()
		}
	case "row":
		r.rows = append(r.rows, r.row)
		r.row.cells = nil
		s.table = false
	default:
		return false
	}
	return true
}

// format follows the control words of characters and of the file.
func (r *rtfReader) format(word string, value int) {
	s := r.state()
	on := value != 0
	switch word {
	case "plain":
		s.look, s.font = look{}, 0
	case "v":
		s.hidden = on
	case "strike", "striked", "deleted":
		s.struck = on
	case "super":
		s.raised = on
	case "sub", "nosupersub", "dn":
		s.raised = false
	case "up":
		s.raised = on
	case "fs":
		s.tiny = value >= 0 && value <= 2
	case "cf":
		s.white = value >= 0 && value < len(r.colors) && r.colors[value]
	case "highlight", "cb", "chcbpat", "cbpat":
		s.ground = value > 0
	case "f":
		s.font = value
	case "uc":
		s.skipAfter = max(value, 0)
	case "ansicpg":
		r.page = codePage(value)
	case "mac":
		r.page = charmap.Macintosh
	case "pc":
		r.page = charmap.CodePage437
	case "pca":
		r.page = charmap.CodePage850
	}
}

// paragraph ends the current paragraph.
func (r *rtfReader) paragraph() {
	text, marker, heading := r.line.String(), strings.TrimSpace(r.marker.String()), 0
	r.line = &line{}
	r.marker.Reset()
	if len(r.states) > 0 {
		heading = r.state().heading
	}
	switch {
	case heading > 0 && heading < 10:
		r.b.Heading(min(heading, 6), marker+" "+text, "")
	case marker != "":
		writeItem(r.b, marker, text)
	default:
		r.b.Paragraph(text)
	}
	r.flushNotes()
}

func (r *rtfReader) flushNotes() {
	for _, note := range r.notes {
		r.b.Paragraph(note)
	}
	r.notes = nil
}

// sameEdge is the distance of edges in different rows that are the same, in twips.
const sameEdge = 40

// flushTable writes the rows of the current table. Cells span the columns whose edges they cover.
func (r *rtfReader) flushTable() {
	if len(r.rows) == 0 {
		return
	}
	var edges []int
	for _, row := range r.rows {
		for _, c := range row.defined {
			edges = append(edges, c.right)
		}
	}
	slices.Sort(edges)
	edges = slices.CompactFunc(edges, func(a, b int) bool { return max(a, b)-min(a, b) < sameEdge })
	var t document.Table
	for n, row := range r.rows {
		t.Row()
		if row.header {
			t.Headers(n + 1)
		}
		at := 0
		for i := 0; i < len(row.cells); i++ {
			cell, end, text := rtfCell{}, at+1, row.cells[i]
			for k := i; k < len(row.defined) && (k == i || row.defined[k].before); k++ {
				column, _ := slices.BinarySearch(edges, row.defined[k].right-sameEdge+1)
				end = max(end, column+1)
				if k > i {
					i = k
				} else {
					cell = row.defined[k]
				}
			}
			if cell.above {
				t.Above(end - at)
			} else {
				t.Cell(document.Clean(text), end-at, 1)
			}
			at = end
		}
	}
	t.Write(r.b)
	r.rows = nil
	r.flushNotes()
}
