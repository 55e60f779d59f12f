package pdf

import (
	"bytes"
	"regexp"
	"strconv"
)

var put = regexp.MustCompile(`dup\s+(\d+)\s*/([^\s/]+)\s+put`)

// builtin returns the built-in encoding of an embedded font, or nil if it has none.
func (d fonts) builtin(descriptor dict) *encodingTable {
	if s, ok := d.resolve(descriptor["FontFile3"]).(*stream); ok {
		return cffEncoding(d.decode(s))
	}
	s, ok := d.resolve(descriptor["FontFile"]).(*stream)
	if !ok {
		return nil
	}
	program := d.decode(s)
	if i := bytes.Index(program, []byte("eexec")); i >= 0 { // encrypted outlines follow
		program = program[:i]
	}
	if i := bytes.Index(program, []byte("/Encoding")); i >= 0 {
		program = program[i:]
	} else {
		return nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(program[len("/Encoding"):]), []byte("StandardEncoding")) {
		return &standardEncoding
	}
	var out encodingTable
	found := false
	for _, m := range put.FindAllSubmatch(program, 1000) {
		if code, err := strconv.Atoi(string(m[1])); err == nil && code < 256 {
			out[code] = string(m[2])
			found = true
		}
	}
	if !found {
		return nil
	}
	return &out
}
