package pdf

import (
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

var (
	boldName = regexp.MustCompile(`bold|black|heavy|demi|^cmbx|^sfbx`)
	monoName = regexp.MustCompile(`mono|courier|typewriter|consol|^cmtt|^sftt`)
)

// glyph is one character code of a shown string.
type glyph struct {
	text  string  // empty if unknown
	width float64 // in text space, relative to the font size
	space bool    // one-byte code 32, which word spacing widens
}

// font converts shown strings to glyphs.
type font struct {
	bold, mono bool
	unicode    *cmap // ToUnicode; nil if there is none
	// for fonts with one-byte codes
	simple [256]string
	widths [256]float64
	// for fonts with multibyte codes
	composite bool
	codes     *cmap             // code lengths and glyph numbers; nil for two-byte codes
	charset   encoding.Encoding // character set of the codes; nil if there is none
	utf16     bool
	cidWidths map[int]float64
	cidWidth  float64
	vertical  bool
}

// fonts reads the fonts of a document, including the meanings and widths of their codes.
type fonts struct{ *document }

func (d fonts) font(o any) *font {
	dict := d.dict(o)
	f := &font{cidWidth: 1}
	base := string(d.name(dict["BaseFont"]))
	if i := strings.IndexByte(base, '+'); i == 6 {
		base = base[7:]
	}
	lower := strings.ToLower(base)
	f.bold = boldName.MatchString(lower)
	f.mono = monoName.MatchString(lower)
	if s, ok := d.resolve(dict["ToUnicode"]).(*stream); ok {
		f.unicode = d.parseCMap(s, 0)
	}
	if d.name(dict["Subtype"]) == "Type0" {
		d.compositeFont(f, dict)
	} else {
		d.simpleFont(f, dict, lower)
	}
	return f
}

func (d fonts) simpleFont(f *font, dict dict, base string) {
	descriptor := d.dict(dict["FontDescriptor"])
	symbolic := d.int(descriptor["Flags"])&4 != 0
	names := baseEncoding(d.name(d.dict(dict["Encoding"])["BaseEncoding"]))
	if n, ok := d.resolve(dict["Encoding"]).(name); ok {
		names = baseEncoding(n)
	}
	if names == nil {
		names = d.builtin(descriptor)
	}
	if names == nil {
		switch {
		case strings.HasPrefix(base, "symbol"):
			names = &symbolEncoding
		case strings.Contains(base, "dingbats"):
			names = &bullets
		case symbolic && d.name(dict["Subtype"]) == "TrueType":
			names = &winAnsi
		default:
			names = &standardEncoding
		}
	}
	table := *names
	code := 0
	for _, o := range d.array(d.dict(dict["Encoding"])["Differences"]) {
		switch v := d.resolve(o).(type) {
		case int:
			code = v
		case name:
			if code >= 0 && code < 256 {
				table[code] = string(v)
			}
			code++
		}
	}
	scale := 0.001
	if m := d.array(dict["FontMatrix"]); d.name(dict["Subtype"]) == "Type3" && len(m) == 6 {
		if v, ok := d.number(m[0]); ok && v != 0 {
			scale = max(v, -v)
		}
	}
	first := d.int(dict["FirstChar"])
	widths := d.array(dict["Widths"])
	missing, _ := d.number(descriptor["MissingWidth"])
	for c := range 256 {
		f.simple[c] = glyphText(table[c])
		if f.simple[c] == "" && table[c] != "" && d.name(dict["Subtype"]) == "Type3" {
			f.simple[c] = bitmapText(c)
		}
		if f.simple[c] == "" && strings.ContainsRune("\t\n\r ", rune(c)) {
			f.simple[c] = " " // some programs emit line ends as characters
		}
		w := missing
		if len(widths) == 0 {
			w = standardWidth(base, c)
		} else if i := c - first; i >= 0 && i < len(widths) {
			w, _ = d.number(widths[i])
		}
		f.widths[c] = w * scale
	}
}

func (d fonts) compositeFont(f *font, dict dict) {
	f.composite = true
	switch e := d.resolve(dict["Encoding"]).(type) {
	case name:
		d.namedCMap(f, string(e))
	case *stream:
		f.codes = d.parseCMap(e, 0)
		f.vertical = d.int(e.dict["WMode"]) == 1
	}
	descendants := d.array(dict["DescendantFonts"])
	if len(descendants) == 0 {
		return
	}
	cid := d.dict(descendants[0])
	if w, ok := d.number(cid["DW"]); ok {
		f.cidWidth = w / 1000
	}
	f.cidWidths = map[int]float64{}
	list := d.array(cid["W"])
	for i := 0; i+1 < len(list); {
		d.step()
		from := d.int(list[i])
		if each := d.array(list[i+1]); each != nil {
			for j, o := range each {
				w, _ := d.number(o)
				f.cidWidths[from+j] = w / 1000
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			break
		}
		w, _ := d.number(list[i+2])
		for c := from; c <= min(d.int(list[i+1]), from+65535); c++ {
			f.cidWidths[c] = w / 1000
		}
		i += 3
	}
}

// namedCMap applies a predefined CMap whose codes are characters of a known set.
func (d fonts) namedCMap(f *font, n string) {
	f.vertical = strings.HasSuffix(n, "-V")
	switch {
	case strings.HasPrefix(n, "Identity"):
	case strings.Contains(n, "UTF16"), strings.Contains(n, "UCS2"):
		f.utf16 = true
	case strings.HasPrefix(n, "GB"):
		f.charset = simplifiedchinese.GBK
	case strings.HasPrefix(n, "B5"), strings.HasPrefix(n, "ETen"), strings.HasPrefix(n, "HK"):
		f.charset = traditionalchinese.Big5
	case strings.Contains(n, "RKSJ"):
		f.charset = japanese.ShiftJIS
	case strings.HasPrefix(n, "EUC"):
		f.charset = japanese.EUCJP
	case strings.HasPrefix(n, "KSC"):
		f.charset = korean.EUCKR
	}
}

// glyphs splits a shown string into glyphs and calls use for each.
func (f *font) glyphs(s string, use func(glyph)) {
	if !f.composite {
		for i := 0; i < len(s); i++ {
			c := s[i]
			g := glyph{text: f.simple[c], width: f.widths[c], space: c == ' '}
			if f.unicode != nil {
				if t, ok := f.unicode.text(int(c), 1); ok {
					g.text = t
				}
			}
			use(g)
		}
		return
	}
	for len(s) > 0 {
		n := f.codeLength(s)
		code := 0
		for i := range n {
			code = code<<8 | int(s[i])
		}
		cid := code
		if f.codes != nil {
			cid = f.codes.cid(code, n)
		}
		g := glyph{space: n == 1 && code == ' ', width: f.cidWidth}
		known := f.charset == nil && !f.utf16 // then codes are glyph numbers, to which W applies
		if w, ok := f.cidWidths[cid]; ok && known {
			g.width = w
		} else if n == 1 && !known {
			g.width = f.cidWidth / 2
		}
		switch t, ok := f.unicode.text(code, n); {
		case ok:
			g.text = t
		case f.utf16:
			g.text = fromUTF16(s[:n], false)
		case f.charset != nil:
			g.text, _ = f.charset.NewDecoder().String(s[:n])
		}
		use(g)
		s = s[n:]
	}
}

func (f *font) codeLength(s string) int {
	n := 2
	switch {
	case f.utf16 && len(s) >= 4 && s[0] >= 0xd8 && s[0] <= 0xdb:
		n = 4
	case f.charset != nil:
		if s[0] < 0x80 || f.charset == japanese.ShiftJIS && s[0] >= 0xa0 && s[0] <= 0xdf {
			n = 1
		}
	case f.codes != nil:
		n = f.codes.length(s)
	}
	return min(n, len(s))
}
