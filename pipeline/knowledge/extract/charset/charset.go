// Package charset decodes text files and web pages to UTF-8.
package charset

import (
	"bytes"
	"errors"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Reasons why content is not decoded.
var (
	ErrBinary   = errors.New("binary content")
	ErrEncoding = errors.New("bad encoding: the text is not UTF-8, Windows-1252 or its declared encoding; " +
		"convert it, for example with iconv -t utf8")
)

// sniffed is the number of leading bytes inspected to distinguish text from binary content.
const sniffed = 8 << 10

// Wide reports whether data is UTF-16 with a byte order mark.
func Wide(data []byte) bool {
	return bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff})
}

// DecodeText decodes a text file in UTF-8, UTF-16 with a byte order mark, the encoding that contentType names, or
// Windows-1252 (a superset of Latin-1).
func DecodeText(data []byte, contentType string) (string, error) {
	switch {
	case Wide(data):
		out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(data)
		if err != nil {
			return "", ErrEncoding
		}
		data = out
	case binary(data):
		return "", ErrBinary
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if utf8.Valid(data) {
		return Lines(string(data)), nil
	}
	var enc encoding.Encoding = charmap.Windows1252
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil && parameters["charset"] != "" {
		if named, name := charset.Lookup(parameters["charset"]); named != nil && name != "utf-8" {
			enc = named
		}
	}
	if contentType == "" && !isWestern(data) { // a web page is read as browsers do
		return "", ErrEncoding
	}
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return "", ErrEncoding
	}
	return Lines(string(out)), nil
}

// isWestern reports whether text that is not UTF-8 is probably Windows-1252: all bytes are valid in this encoding, and
// single non-ASCII bytes occur among ASCII letters. In other alphabets most letters are non-ASCII, multibyte encodings
// have adjacent non-ASCII bytes, and damaged UTF-8 still contains valid multibyte characters.
func isWestern(data []byte) bool {
	high, pairs, ascii, last := 0, 0, 0, byte(0)
	for _, c := range data {
		switch {
		case c >= 0x80:
			if strings.IndexByte("\x81\x8d\x8f\x90\x9d", c) >= 0 {
				return false
			}
			if high++; last >= 0x80 {
				pairs++
			}
		case c < ' ' && strings.IndexByte("\t\n\r\f", c) < 0:
			return false
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			ascii++
		}
		last = c
	}
	whole := 0
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r != utf8.RuneError && size > 1 {
			whole++
		}
		rest = rest[size:]
	}
	return high*3 <= ascii && pairs*10 <= high && whole*10 <= high
}

// DecodeHTML decodes a page to UTF-8. The encoding is taken from the byte order mark, the header, the page's own
// declaration, or UTF-8 if valid, in this order; the fallback is windows-1252, as in browsers.
func DecodeHTML(data []byte, contentType string) (string, error) {
	if !Wide(data) && binary(data) {
		return "", ErrBinary
	}
	enc, name, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], contentType)
	if name == "windows-1252" && utf8.Valid(data) { // the guess used only the first kilobyte
		return Lines(string(data)), nil
	}
	out := data
	if name != "utf-8" {
		var err error
		if out, err = enc.NewDecoder().Bytes(data); err != nil {
			return "", ErrEncoding
		}
	}
	out = bytes.TrimPrefix(out, []byte("\xef\xbb\xbf"))
	text := strings.ToValidUTF8(string(out), "\ufffd")
	// Stray bytes become replacement characters, as in browsers; many of them indicate another encoding.
	if bad := strings.Count(text, "\ufffd"); bad > 10 && bad > len(text)/200 {
		if contentType != "" { // a wrong header; the page may know
			return DecodeHTML(data, "")
		}
		return "", ErrEncoding
	}
	return Lines(text), nil
}

// binary reports whether content is not text: it contains a NUL byte or starts like a known container format.
func binary(data []byte) bool {
	head := data[:min(len(data), sniffed)]
	for _, magic := range []string{"%PDF-", "PK\x03\x04", "\x1f\x8b", "\x89PNG", "\xff\xd8\xff", "GIF8"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return bytes.IndexByte(head, 0) >= 0
}

// Lines returns s with "\n" line ends.
func Lines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
