// Package charset decodes text files and web pages to UTF-8.
package charset

import (
	"bytes"
	"errors"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
)

// Reasons why content is not decoded.
var (
	ErrBinary   = errors.New("binary content")
	ErrEncoding = errors.New("bad encoding: the text is in none that it declares or that can be guessed; " +
		"convert it, for example with iconv -t utf8")
)

// sniffed is the number of leading bytes inspected to distinguish text from binary content.
const sniffed = 8 << 10

// Wide reports whether data is UTF-16 with a byte order mark.
func Wide(data []byte) bool {
	return bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff})
}

// Decode decodes text or a page to UTF-8. The encoding is that of a byte order mark, else UTF-8 if the text is valid,
// else the one that contentType or the page declares, unless the text contradicts, else a clear guess. contentType is
// the HTTP header, or empty.
func Decode(data []byte, contentType string, page bool) (string, error) {
	if Wide(data) {
		out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(data)
		if err != nil {
			return "", ErrEncoding
		}
		return Lines(string(out)), nil
	}
	if binary(data) {
		return "", ErrBinary
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	said := declared(data, contentType, page)
	if utf8.Valid(data) && said != "iso-2022-jp" { // which has only ASCII bytes
		return Lines(string(data)), nil
	}
	names := []string{said, guess(data)}
	if said == "windows-1252" || said == "utf-8" && !page { // a server's default
		names = names[1:]
	}
	if sent := page || contentType != ""; sent && (isShort(data) || said != "" && isWestern(data, true)) {
		names = append(names, "windows-1252")
	}
	for _, name := range names {
		if text, ok := decode(data, name); ok {
			return Lines(text), nil
		}
	}
	return "", ErrEncoding
}

// isShort reports whether text has too few non-ASCII bytes to contradict a declaration.
func isShort(data []byte) bool {
	high := 0
	for _, c := range data {
		high += int(c >> 7)
	}
	return high < 8
}

// declared returns the name of the encoding that a header or a page states, or "".
func declared(data []byte, contentType string, page bool) string {
	if page {
		_, name, certain := charset.DetermineEncoding(data[:min(len(data), 1024)], contentType)
		if !certain && name == "windows-1252" { // probably for want of a declaration
			name = ""
		}
		return name
	}
	_, parameters, _ := mime.ParseMediaType(contentType)
	_, name := charset.Lookup(parameters["charset"])
	return name
}

// minConfidence is the confidence from which on a guess was right in all samples of the tests. The detector never
// reaches it for Japanese.
const minConfidence = 0.9

// guess returns the name of the encoding in which the text certainly is, or "".
func guess(data []byte) string {
	if isWestern(data, false) {
		return "windows-1252"
	}
	result := chardet.Detect(data[:min(len(data), maxGuess)])
	switch name := strings.ToLower(result.Encoding); {
	case name == "shift_jis" && result.Confidence > minConfidence/2:
		return name
	case result.Confidence < minConfidence:
		return ""
	case name == "gb2312":
		return "gb18030"
	case name == "cp949":
		return "euc-kr"
	default:
		return name
	}
}

const maxGuess = 64 << 10

// decode decodes text in an encoding. ok is false if the name is unknown or the text is not in this encoding: it has
// more than a few stray bytes, which become replacement characters, as in browsers.
func decode(data []byte, name string) (text string, ok bool) {
	enc, _ := charset.Lookup(name)
	if enc == nil {
		return "", false
	}
	out, err := enc.NewDecoder().Bytes(data)
	text = strings.ToValidUTF8(string(out), "\ufffd")
	bad := strings.Count(text, "\ufffd")
	return text, err == nil && (bad <= 10 || bad <= len(text)/200)
}

// isWestern reports whether text that is not UTF-8 is probably Windows-1252: all bytes are valid in this encoding, and
// single non-ASCII bytes occur among ASCII letters. In other alphabets most letters are non-ASCII, multibyte encodings
// have adjacent non-ASCII bytes, and damaged UTF-8 still contains valid multibyte characters. Where the text is said to
// be in some encoding, isWestern is less strict.
func isWestern(data []byte, said bool) bool {
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
	if said {
		return high*2 <= ascii && pairs*2 <= high && whole*10 <= high
	}
	return high*3 <= ascii && pairs*10 <= high && whole*10 <= high
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
