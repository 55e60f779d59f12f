package pdf

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"strings"
	"sync"
)

//go:embed cffnames.txt
var cffNames string

// cffStandard returns the names of the predefined CFF strings, by number (Adobe Technical Note 5176, appendix A).
var cffStandard = sync.OnceValue(func() []string { return strings.Fields(cffNames) })

// cff is a Compact Font Format font program. Reads beyond its end return zeros, because its offsets are not trusted.
type cff struct {
	data    []byte
	strings [][]byte
}

// cffEncoding returns the built-in encoding of a font program in Compact Font Format (Adobe Technical Note 5176), or
// nil if it has none.
func cffEncoding(program []byte) *encodingTable {
	if bytes.HasPrefix(program, []byte("OTTO")) {
		program = openTypeTable(program, "CFF ")
	}
	if len(program) < 4 {
		return nil
	}
	c := &cff{data: program}
	_, at := c.index(int(program[2])) // font names
	tops, at := c.index(at)
	c.strings, _ = c.index(at)
	if len(tops) == 0 {
		return nil
	}
	top := topDict(tops[0])
	const charset, encoding, charStrings, ros = 15, 16, 17, 12<<8 | 30
	if _, keyed := top[ros]; keyed || top[encoding] == 1 { // glyph numbers instead of names, or the expert encoding
		return nil
	}
	if top[encoding] == 0 {
		return &standardEncoding
	}
	glyphs, _ := c.index(top[charStrings])
	return c.encoding(top[encoding], c.charset(top[charset], len(glyphs)))
}

// openTypeTable returns a table of an OpenType font, or nil.
func openTypeTable(font []byte, tag string) []byte {
	c := cff{data: font}
	for i := range c.number(4, 2) {
		if at := 12 + 16*i; at+16 <= len(font) && string(font[at:at+4]) == tag {
			from := min(c.number(at+8, 4), len(font))
			return font[from:min(from+c.number(at+12, 4), len(font))]
		}
	}
	return nil
}

// number returns the big-endian number of size bytes at an offset.
func (c *cff) number(at, size int) int {
	var b [4]byte
	if at >= 0 && at+size <= len(c.data) {
		copy(b[4-size:], c.data[at:at+size])
	}
	return int(binary.BigEndian.Uint32(b[:]))
}

// index reads an INDEX structure and returns its entries and end offset.
func (c *cff) index(at int) (entries [][]byte, end int) {
	count := c.number(at, 2)
	if count == 0 {
		return nil, at + 2
	}
	size := c.number(at+2, 1)
	if size < 1 || size > 4 {
		return nil, len(c.data)
	}
	base := at + 2 + (count+1)*size
	for i := range count {
		from, to := base+c.number(at+3+i*size, size), base+c.number(at+3+(i+1)*size, size)
		if from > to || to > len(c.data) {
			return entries, len(c.data)
		}
		entries = append(entries, c.data[from:to])
	}
	return entries, base + c.number(at+3+count*size, size)
}

// topDict returns the integers of a Top DICT by operator. Of several operands the last one is kept.
func topDict(data []byte) map[int]int {
	out := map[int]int{}
	value := 0
	for i := 0; i < len(data); i++ {
		next := func(n int) int {
			if i+n < len(data) {
				return int(data[i+n])
			}
			return 0
		}
		switch b := int(data[i]); {
		case b == 12:
			out[12<<8|next(1)] = value
			i++
		case b <= 21:
			out[b] = value
		case b == 28:
			value = int(int16(next(1)<<8 | next(2)))
			i += 2
		case b == 29:
			value = int(int32(next(1)<<24 | next(2)<<16 | next(3)<<8 | next(4)))
			i += 4
		case b == 30: // skip decimal numbers, which are not needed
			for i++; i < len(data) && data[i]&0xf != 0xf && data[i]>>4 != 0xf; i++ {
			}
		case b >= 32 && b <= 246:
			value = b - 139
		case b >= 247 && b <= 250:
			value = (b-247)*256 + next(1) + 108
			i++
		case b >= 251 && b <= 254:
			value = -(b-251)*256 - next(1) - 108
			i++
		}
	}
	return out
}

// name returns the string with this number.
func (c *cff) name(sid int) string {
	standard := cffStandard()
	switch {
	case sid < len(standard):
		return standard[sid]
	case sid-len(standard) < len(c.strings):
		return string(c.strings[sid-len(standard)])
	}
	return ""
}

// charset returns the glyph names by glyph number.
func (c *cff) charset(at, glyphs int) []string {
	names := make([]string, 1, max(glyphs, 1)) // .notdef
	if at <= 2 {                               // predefined charsets; all start with the names in this order
		for i := 1; i < glyphs; i++ {
			names = append(names, c.name(i))
		}
		return names
	}
	format := c.number(at, 1)
	for at++; len(names) < glyphs && at < len(c.data); {
		first, left := c.number(at, 2), 0
		at += 2
		if format > 0 {
			left = c.number(at, format)
			at += format
		}
		for i := 0; i <= left && len(names) < glyphs; i++ {
			names = append(names, c.name(first+i))
		}
	}
	return names
}

// encoding reads a custom encoding table.
func (c *cff) encoding(at int, names []string) *encodingTable {
	var out encodingTable
	format, count := c.number(at, 1), c.number(at+1, 1)
	set := func(code, glyph int) {
		if code < 256 && glyph < len(names) {
			out[code] = names[glyph]
		}
	}
	at += 2
	glyph := 1
	for range count {
		first, left := c.number(at, 1), 0
		at++
		if format&0x7f == 1 {
			left = c.number(at, 1)
			at++
		}
		for i := 0; i <= left; i++ {
			set(first+i, glyph)
			glyph++
		}
	}
	if format&0x80 != 0 { // supplementary codes
		supplements := c.number(at, 1)
		for i := range supplements {
			if code := c.number(at+1+3*i, 1); code < 256 {
				out[code] = c.name(c.number(at+2+3*i, 2))
			}
		}
	}
	return &out
}
