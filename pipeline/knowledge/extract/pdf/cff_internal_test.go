package pdf

import (
	"encoding/binary"
	"slices"
	"testing"
)

// cffIndex writes an INDEX with offsets of one byte.
func cffIndex(entries ...[]byte) []byte {
	out := binary.BigEndian.AppendUint16(nil, uint16(len(entries)))
	if len(entries) == 0 {
		return out
	}
	at := byte(1)
	out = append(out, 1, at)
	for _, e := range entries {
		at += byte(len(e))
		out = append(out, at)
	}
	return append(out, slices.Concat(entries...)...)
}

// cffFont is a font with the glyphs .notdef, A, fi and omega.alt, of which it shows fi as 12, A as 65 and omega.alt as
// 200.
func cffFont(format byte) []byte {
	number := func(n int) []byte { return []byte{28, byte(n >> 8), byte(n)} }
	top := func(charset, encoding, glyphs int) []byte {
		return slices.Concat(number(charset), []byte{15}, number(encoding), []byte{16}, number(glyphs), []byte{17})
	}
	head := func(charset, encoding, glyphs int) []byte {
		return slices.Concat([]byte{1, 0, 4, 1}, cffIndex([]byte("Test")), cffIndex(top(charset, encoding, glyphs)),
			cffIndex([]byte("omega.alt")), cffIndex())
	}
	charset := []byte{0, 0, 34, 0, 109, 391 >> 8, 391 & 0xff}
	encoding := []byte{format, 3, 65, 12, 200}
	if format&0x7f == 1 {
		encoding = []byte{format, 3, 65, 0, 12, 0, 200, 0}
	}
	if format&0x80 != 0 {
		encoding = append(encoding, 1, 66, 0, 35)
	}
	at := len(head(0, 0, 0))
	return slices.Concat(head(at, at+len(charset), at+len(charset)+len(encoding)), charset, encoding,
		cffIndex([]byte{14}, []byte{14}, []byte{14}, []byte{14}))
}

func TestCFFEncoding(t *testing.T) {
	t.Parallel()
	for _, format := range []byte{0, 1, 0x80, 0x81} {
		font := cffFont(format)
		wrapped := slices.Concat([]byte("OTTO\x00\x01\x00\x00\x00\x00\x00\x00CFF \x00\x00\x00\x00\x00\x00\x00\x1c"),
			binary.BigEndian.AppendUint32(nil, uint32(len(font))), font)
		for name, program := range map[string][]byte{"bare": font, "OpenType": wrapped} {
			got := cffEncoding(program)
			if got == nil || got[65] != "A" || got[12] != "fi" || got[200] != "omega.alt" || (got[66] == "B") != (format&0x80 != 0) {
				t.Errorf("format %d, %s: %v", format, name, got)
			}
		}
	}
	if n := len(cffStandard()); n != 391 {
		t.Errorf("%d standard names, want 391", n)
	}
}

func FuzzCFF(f *testing.F) {
	f.Add(cffFont(0))
	f.Add(cffFont(0x81))
	f.Fuzz(func(_ *testing.T, program []byte) { cffEncoding(program) })
}

// Fonts of pictures whose glyphs have invented names show the character of the code.
func TestBitmapText(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{'A': "A", '7': "7", 12: "fi", 28: "fi", 22: "—", 3: "", 200: ""} {
		if got := bitmapText(code); got != want {
			t.Errorf("code %d shows %q, want %q", code, got, want)
		}
	}
}
