package pdf

import (
	"bytes"
	"compress/flate"
	"compress/lzw"
	"encoding/ascii85"
	"io"

	tifflzw "golang.org/x/image/tiff/lzw"
)

// decode decodes a stream. Damaged data yields the part before the damage; image data yields nil.
func (d *document) decode(s *stream) []byte {
	data := s.raw
	if d.cipher != nil && s.dict["Type"] != name("XRef") {
		data = d.cipher.stream(data, s.id)
	}
	filters, params := d.list(s.dict["Filter"], s.dict["F"]), d.list(s.dict["DecodeParms"], s.dict["DP"])
	if len(filters) > 8 {
		return nil
	}
	for i, f := range filters {
		var p dict
		if i < len(params) {
			p = d.dict(params[i])
		}
		switch d.name(f) {
		case "FlateDecode", "Fl":
			data = d.predict(d.inflate(data), p)
		case "LZWDecode", "LZW":
			data = d.predict(d.readAll(lzwReader(data, p)), p)
		case "ASCII85Decode", "A85":
			data, _, _ = bytes.Cut(data, []byte("~"))
			data = d.readAll(ascii85.NewDecoder(bytes.NewReader(data)))
		case "ASCIIHexDecode", "AHx":
			data = []byte((&lexer{data: data}).hex())
		case "RunLengthDecode", "RL":
			data = runLength(data, d.room())
		case "Crypt":
		default: // image formats: DCT, JPX, CCITT, JBIG2
			return nil
		}
		d.steps += len(data) / 64
		d.step()
		d.decoded += len(data)
		if d.decoded > maxDecoded {
			panic(stop{ErrTooLarge})
		}
	}
	return data
}

// list returns a value that is either an array or a single element. If o is nil, it uses short.
func (d *document) list(o, short any) []any {
	if o == nil {
		o = short
	}
	switch v := d.resolve(o).(type) {
	case nil:
		return nil
	case array:
		return v
	default:
		return []any{v}
	}
}

// room returns the number of bytes to which one more stream may be decoded.
func (d *document) room() int { return min(maxStream, maxDecoded-d.decoded+1) }

func (d *document) inflate(data []byte) []byte {
	if len(data) < 2 {
		return nil
	}
	// Skip the two bytes of the zlib header and ignore the checksum. Both are wrong in many files whose text is intact.
	out := d.readAll(flate.NewReader(bytes.NewReader(data[2:])))
	if len(out) == 0 && len(data) > 8 {
		out = d.readAll(flate.NewReader(bytes.NewReader(data)))
	}
	return out
}

func (d *document) readAll(r io.Reader) []byte {
	var out bytes.Buffer
	buf := make([]byte, 32<<10)
	room := d.room()
	for {
		n, err := r.Read(buf)
		out.Write(buf[:n])
		if out.Len() > room {
			panic(stop{ErrTooLarge})
		}
		if err != nil {
			return out.Bytes()
		}
		d.steps += 0xff // one step is some hundred bytes of work
		d.step()
	}
}

func (d *document) predict(data []byte, p dict) []byte {
	kind := d.int(p["Predictor"])
	if kind < 2 {
		return data
	}
	value := func(key name, def int) int {
		if v, ok := d.number(p[key]); ok && v > 0 && v < 1<<20 {
			return int(v)
		}
		return def
	}
	colors, bits, columns := value("Colors", 1), value("BitsPerComponent", 8), value("Columns", 1)
	pixel := max(1, colors*bits/8)
	row := (colors*bits*columns + 7) / 8
	if row <= 0 || row > 1<<24 {
		return nil
	}
	if kind == 2 {
		if bits == 8 {
			for start := 0; start+row <= len(data); start += row {
				for i := start + pixel; i < start+row; i++ {
					data[i] += data[i-pixel]
				}
			}
		}
		return data
	}
	out := make([]byte, 0, len(data))
	before := make([]byte, row)
	for len(data) > 1 {
		tag := data[0]
		line := append([]byte(nil), data[1:min(len(data), row+1)]...)
		data = data[min(len(data), row+1):]
		for i := range line {
			var left, up, corner byte
			up = before[i]
			if i >= pixel {
				left, corner = line[i-pixel], before[i-pixel]
			}
			switch tag {
			case 1:
				line[i] += left
			case 2:
				line[i] += up
			case 3:
				line[i] += byte((int(left) + int(up)) / 2)
			case 4:
				line[i] += paeth(left, up, corner)
			}
		}
		out = append(out, line...)
		copy(before, line)
	}
	return out
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	abs := func(n int) int { return max(n, -n) }
	pa, pb, pc := abs(p-int(a)), abs(p-int(b)), abs(p-int(c))
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}

// lzwReader decodes LZW. Unlike GIF, PDF and TIFF by default increase the code length one code early.
func lzwReader(data []byte, p dict) io.Reader {
	if early, ok := p["EarlyChange"].(int); ok && early == 0 {
		return lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8)
	}
	return tifflzw.NewReader(bytes.NewReader(data), tifflzw.MSB, 8)
}

func runLength(data []byte, room int) []byte {
	var out []byte
	for len(data) > 1 && data[0] != 128 {
		n := int(data[0])
		if n < 128 {
			out = append(out, data[1:min(len(data), n+2)]...)
			data = data[min(len(data), n+2):]
		} else {
			out = append(out, bytes.Repeat(data[1:2], 257-n)...)
			data = data[2:]
		}
		if len(out) > room {
			panic(stop{ErrTooLarge})
		}
	}
	return out
}
