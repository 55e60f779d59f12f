package pdf

import (
	"bytes"
	"compress/lzw"
	"encoding/ascii85"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func unstopped() error { return nil }

func TestFilters(t *testing.T) {
	t.Parallel()
	plain := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200)
	a85 := make([]byte, ascii85.MaxEncodedLen(len(plain)))
	a85 = a85[:ascii85.Encode(a85, []byte(plain))]
	var tiff bytes.Buffer
	w := lzw.NewWriter(&tiff, lzw.MSB, 8)
	_, _ = w.Write([]byte(plain[:1000]))
	_ = w.Close()
	example, _ := hex.DecodeString("800B6050220C0C8501") // ISO 32000-1, 7.4.4.2
	for _, tc := range []struct {
		name   string
		filter any
		params dict
		data   string
		want   string
	}{
		{"none", nil, nil, "as is", "as is"},
		{"LZW", name("LZWDecode"), nil, string(example), "-----A---B"},
		{"LZW, late change", name("LZWDecode"), dict{"EarlyChange": 0}, tiff.String(), plain[:1000]},
		{"ASCII85", name("ASCII85Decode"), nil, string(a85) + "~>", plain},
		{"ASCIIHex", array{name("ASCIIHexDecode")}, nil, "48 65 6C6c 6F>", "Hello"},
		{"run length", name("RunLengthDecode"), nil, "\x02abc\xfex\x80rest", "abcxxx"},
		{"two", array{name("AHx"), name("RL")}, nil, "026162 63 fe78 80>", "abcxxx"},
		{"picture", name("DCTDecode"), nil, "\xff\xd8", ""},
		{"unknown", name("Zip"), nil, "x", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDocument(nil, unstopped)
			if got := string(d.decode(&stream{dict: dict{"Filter": tc.filter, "DecodeParms": tc.params}, raw: []byte(tc.data)})); got != tc.want {
				t.Errorf("got %.60q, want %.60q", got, tc.want)
			}
		})
	}
}

func TestPredictor(t *testing.T) {
	t.Parallel()
	d := newDocument(nil, unstopped)
	p := dict{"Predictor": 15, "Columns": 3}
	got := d.predict([]byte{0, 1, 2, 3, 1, 1, 1, 1, 2, 1, 1, 1, 3, 2, 2, 2, 4, 1, 1, 1}, p)
	want := []byte{1, 2, 3, 1, 2, 3, 2, 3, 4, 3, 5, 6, 4, 6, 7}
	if !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := d.predict([]byte{1, 2, 3, 4, 5, 6}, dict{"Predictor": 2, "Columns": 3}); !bytes.Equal(got, []byte{1, 3, 6, 4, 9, 15}) {
		t.Errorf("TIFF: %v", got)
	}
}

func TestLexer(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]any{
		`(a(b)\)\101\n)`: text("a(b))A\n"), `<48 6>`: text("H`"), "/A#20B": name("A B"), "12": 12, "-.5": -0.5, "+3": 3, "12 0 R": ref{12, 0},
		"--7": -7, "true": true, "null": nil, "% c\n5": 5, "BT": operator("BT"), "": end{}, "999999999999999999999": 0,
	} {
		l := &lexer{data: []byte(in), refs: true}
		if got := l.object(); got != want {
			t.Errorf("%q: got %#v, want %#v", in, got, want)
		}
	}
	l := &lexer{data: []byte("<< /A [1 2 0 R (x)] /B << /C /D >> >> stream"), refs: true}
	got, ok := l.object().(dict)
	if a, _ := got["A"].(array); !ok || len(a) != 3 || a[1] != (ref{2, 0}) || got["B"].(dict)["C"] != name("D") {
		t.Errorf("got %#v", got)
	}
}

func TestCMap(t *testing.T) {
	t.Parallel()
	d := newDocument(nil, unstopped)
	m := fonts{d}.parseCMap(&stream{raw: []byte(`1 begincodespacerange <00> <FF> endcodespacerange
2 beginbfchar <01> <0048> <02> <00660069> endbfchar
3 beginbfrange <10> <12> <0061> <20> <21> [<0078> <0079>]  endbfrange 1 beginbfrange <00000100> <FFFFFFFF> <0041> endbfrange`)}, 0)
	for code, want := range map[int]string{1: "H", 2: "fi", 0x10: "a", 0x12: "c", 0x21: "y"} {
		if got, _ := m.text(code, 1); got != want {
			t.Errorf("%x: got %q, want %q", code, got, want)
		}
	}
	if m.length("\x01\x02") != 1 || len(m.texts) > maxMapped {
		t.Errorf("length %d, %d entries", m.length("\x01\x02"), len(m.texts))
	}
}

func TestGlyphText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"A": "A", "f_i": "ﬁ", "uni00E9": "é", "uni00410042": "AB", "u1F600": "😀", "a.sc": "a", "Euro": "€", "afii10017": "А", "g65": "A", ".notdef": "", "nonsense": "", "summation": "∑",
	} {
		if got := glyphText(in); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// A file may show so many glyphs, also where none of them becomes a word.
func TestGlyphsAreBounded(t *testing.T) {
	t.Parallel()
	show := func(shown int) (err error) {
		defer rescue(&err)
		r := newRenderer(newDocument(nil, func() error { return nil }))
		r.page, r.state.font, r.shown = &Page{}, &font{}, shown
		r.glyph(glyph{text: "a"})
		return nil
	}
	if err := show(maxGlyphs - 1); err != nil {
		t.Error(err)
	}
	if err := show(maxGlyphs); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want %v", err, ErrTooLarge)
	}
}
