package pdf

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
)

//go:embed glyphs.txt
var glyphList string

var glyphNames = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(glyphList) {
		n, code, ok := strings.Cut(strings.TrimSpace(line), ";")
		if r, err := strconv.ParseUint(code, 16, 32); ok && err == nil {
			out[n] = string(rune(r))
		}
	}
	return out
})

// glyphText returns the text for a glyph name, or "" if the name is not meaningful.
func glyphText(n string) string {
	if n == "" || n == ".notdef" {
		return ""
	}
	if t, ok := glyphNames()[n]; ok {
		return t
	}
	if i := strings.IndexByte(n, '.'); i > 0 { // "a.sc", "one.oldstyle"
		return glyphText(n[:i])
	}
	if strings.Contains(n, "_") && len(n) < 64 {
		out := ""
		for part := range strings.SplitSeq(n, "_") {
			out += glyphText(part)
		}
		return out
	}
	if h, ok := strings.CutPrefix(n, "uni"); ok && len(h) >= 4 && len(h)%4 == 0 && len(h) < 64 {
		out := ""
		for ; len(h) >= 4; h = h[4:] {
			r, err := strconv.ParseUint(h[:4], 16, 32)
			if err != nil {
				return ""
			}
			out += string(rune(r))
		}
		return out
	}
	if h, ok := strings.CutPrefix(n, "u"); ok && len(h) >= 4 && len(h) <= 6 {
		if r, err := strconv.ParseUint(h, 16, 32); err == nil {
			return string(rune(r))
		}
	}
	// Names derived from the code: "a65", "C65", "g65".
	if len(n) >= 3 && len(n) <= 4 {
		if r, err := strconv.Atoi(n[1:]); err == nil && r > 32 && r < 127 {
			return string(rune(r))
		}
	}
	return ""
}

// texCodes maps codes of letters in TeX fonts that differ from ASCII: from OT1, and above 15 from T1.
var texCodes = map[int]string{
	11: "ff", 12: "fi", 13: "fl", 14: "ffi", 15: "ffl",
	16: "“", 17: "”", 21: "–", 22: "—", 27: "ff", 28: "fi", 29: "fl", 30: "ffi", 31: "ffl",
}

// bitmapText returns the probable text for a code of a bitmap font whose glyph names are not meaningful. Such fonts
// come from TeX or from programs that keep the codes and invent names.
func bitmapText(code int) string {
	if code > ' ' && code < 0x7f {
		return string(rune(code))
	}
	return texCodes[code]
}

// encodingTable maps one-byte codes to glyph names.
type encodingTable [256]string

var (
	winAnsi          = ofCharmap(charmap.Windows1252)
	macRoman         = ofCharmap(charmap.Macintosh)
	standardEncoding = standard()
	symbolEncoding   = symbols()
	bullets          = allBullets()
)

func baseEncoding(n name) *encodingTable {
	switch n {
	case "WinAnsiEncoding":
		return &winAnsi
	case "MacRomanEncoding":
		return &macRoman
	case "StandardEncoding":
		return &standardEncoding
	}
	return nil
}

func ofCharmap(m *charmap.Charmap) (out encodingTable) {
	for c := 32; c < 256; c++ {
		if r := m.DecodeByte(byte(c)); r >= 32 && r != '\ufffd' && (r < 0x7f || r > 0x9f) {
			out[c] = fmt.Sprintf("uni%04X", r)
		}
	}
	return out
}

func standard() encodingTable {
	var out encodingTable
	for c := 32; c < 127; c++ {
		out[c] = fmt.Sprintf("uni%04X", c)
	}
	out['\''], out['`'] = "quoteright", "quoteleft"
	for from, names := range map[int]string{
		161: "exclamdown cent sterling fraction yen florin section currency quotesingle quotedblleft guillemotleft " +
			"guilsinglleft guilsinglright fi fl",
		177: "endash dagger daggerdbl periodcentered",
		182: "paragraph bullet quotesinglbase quotedblbase quotedblright guillemotright ellipsis perthousand",
		191: "questiondown", 193: "grave acute circumflex tilde macron breve dotaccent dieresis", 202: "ring cedilla",
		205: "hungarumlaut ogonek caron emdash", 225: "AE", 227: "ordfeminine", 232: "Lslash Oslash OE ordmasculine",
		241: "ae", 245: "dotlessi",
		248: "lslash oslash oe germandbls",
	} {
		for i, n := range strings.Fields(names) {
			out[from+i] = n
		}
	}
	return out
}

func symbols() (out encodingTable) {
	for from, names := range map[int]string{
		32: `space exclam universal numbersign existential percent ampersand suchthat parenleft parenright asteriskmath plus
			comma minus period slash zero one two three four five six seven eight nine colon semicolon less equal greater
			question congruent Alpha Beta Chi Delta Epsilon Phi Gamma Eta Iota theta1 Kappa Lambda Mu Nu Omicron Pi Theta
			Rho Sigma Tau Upsilon sigma1 Omega Xi Psi Zeta bracketleft therefore bracketright perpendicular underscore
			radicalex alpha beta chi delta epsilon phi gamma eta iota phi1 kappa lambda mu nu omicron pi theta rho sigma
			tau upsilon omega1 omega xi psi zeta braceleft bar braceright similar`,
		160: `Euro Upsilon1 minute lessequal fraction infinity florin club diamond heart spade arrowboth arrowleft arrowup
			arrowright arrowdown degree plusminus second greaterequal multiply proportional partialdiff bullet divide
			notequal equivalence approxequal ellipsis arrowvertex arrowhorizex carriagereturn aleph Ifraktur Rfraktur
			weierstrass circlemultiply circleplus emptyset intersection union propersuperset reflexsuperset notsubset
			propersubset reflexsubset element notelement angle gradient registerserif copyrightserif trademarkserif
			product radical dotmath logicalnot logicaland logicalor arrowdblboth arrowdblleft arrowdblup arrowdblright
			arrowdbldown lozenge angleleft registersans copyrightsans trademarksans summation`,
	} {
		for i, n := range strings.Fields(names) {
			out[from+i] = n
		}
	}
	return out
}

// allBullets returns the encoding of fonts that contain only ornaments.
func allBullets() (out encodingTable) {
	for c := 33; c < 256; c++ {
		out[c] = "bullet"
	}
	out[32] = "space"
	return out
}

// Widths of the characters 32 to 126 in the standard fonts, which files may omit, in 1/1000 of the font size.
var (
	helveticaWidths = [95]uint16{278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556,
		556, 556, 556, 556,
		556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556,
		833, 722, 778, 667,
		778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
		556, 222, 222, 500,
		222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584}
	timesWidths = [95]uint16{250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500,
		500, 500, 500, 500,
		500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
		722, 722, 556, 722,
		667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500,
		278, 278, 500, 278,
		778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541}
)

// standardWidth returns the width of a character in a font without widths. base is the lower-case font name.
func standardWidth(base string, c int) float64 {
	switch {
	case strings.Contains(base, "courier"):
		return 600
	case c < 32 || c > 126:
		return 500
	case strings.Contains(base, "times"):
		return float64(timesWidths[c-32])
	}
	return float64(helveticaWidths[c-32])
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

// Symbol returns the text for a code of the font Symbol.
func Symbol(code byte) string { return glyphText(symbolEncoding[code]) }
