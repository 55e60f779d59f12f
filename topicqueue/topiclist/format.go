package topiclist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Format is the format of a list.
type Format string

// The formats of a list.
const (
	Text      Format = "text"  // one topic per line; empty lines and lines that begin with "# " are ignored
	CSV       Format = "csv"   // a header row, then one topic per row; fields separated by commas, semicolons, tabs or |
	JSONLines Format = "jsonl" // one object or string per line
)

// ParseFormat parses the name of a format; "" and "auto" give the empty Format.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case "", "auto":
		return "", nil
	case Text, CSV, JSONLines:
		return f, nil
	}
	return "", fmt.Errorf("unknown format %q; use text, csv or jsonl", name)
}

// peekBytes is the number of bytes from which the format is detected.
const peekBytes = 64 << 10

// detect determines the format from the file name extension, otherwise from the first line.
func detect(name string, head []byte, template *Template) Format {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv":
		return CSV
	case ".jsonl", ".ndjson":
		return JSONLines
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	if len(line) > 0 && line[0] == '{' && (json.Valid(line) || len(head) == peekBytes) {
		return JSONLines
	}
	separator := separatorOf(string(line))
	columns := strings.Split(string(line), string(separator))
	if len(columns) < 2 {
		return Text
	}
	known := false
	for _, c := range columns {
		c = canonical(strings.Trim(strings.TrimSpace(c), `"`))
		if c == "topic" || template.has(c) {
			known = true
		}
		if len(c) > 40 { // a sentence, not a name
			return Text
		}
	}
	if known {
		return CSV
	}
	return Text
}

// separators are the possible separators between the fields of a CSV file.
const separators = ",;\t|"

// separatorOf determines the separator of a header row: the one that gives the most known column names, then the most
// columns.
func separatorOf(header string) rune {
	best := rune(separators[0])
	for _, s := range separators {
		if score(header, s) > score(header, best) {
			best = s
		}
	}
	return best
}

// score counts the cells of a header, and those with known names as many.
func score(header string, separator rune) (n int) {
	for _, cell := range strings.Split(header, string(separator)) {
		n++
		if isColumn(canonical(strings.Trim(strings.TrimSpace(cell), `"`))) {
			n += 1000
		}
	}
	return n
}
