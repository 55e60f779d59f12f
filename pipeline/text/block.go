package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Block is a part of a text that a reader needs as a whole: a paragraph, a list, a table or code, with its introductory
// lines. An introductory line is a heading, a term or a label (short, without a final stop), or ends with a colon or a
// comma.
type Block struct {
	Start, End int // bytes, without surrounding white space
}

const (
	maxLead  = 120 // bytes; a shorter line without a stop is a heading, a term or a label
	maxLeads = 3   // introductory lines in a row; longer runs are menus
)

// Blocks returns the blocks of s in order. Only white space is between them. Never fails.
func Blocks(s string) []Block {
	var out []Block
	leads := 0 // number of introductory lines at the end of the last block
	for _, e := range elements(s) {
		if e.joins || leads > 0 && leads <= maxLeads {
			out[len(out)-1].End = e.End
		} else {
			out = append(out, e.Block)
			leads = 0
		}
		if e.leads(s) {
			leads++
		} else {
			leads = 0
		}
	}
	return out
}

// The kinds of elements.
const (
	prose = iota
	item
	row
	fenced
)

// element is a paragraph, a list item with the indented text below it, a table or code.
type element struct {
	Block
	kind  int
	joins bool // continues the list or table before it
}

// leads reports whether an element introduces the next one.
func (e element) leads(s string) bool {
	if e.kind != prose {
		return false
	}
	body := s[e.Start:e.End]
	last, _ := utf8.DecodeLastRuneInString(body)
	if strings.ContainsRune(":：,，", last) { // an unfinished sentence goes on below
		return true
	}
	return len(body) < maxLead && !strings.Contains(body, "\n") && !strings.ContainsRune(".!?。！？;…”\"»", last)
}

// elements divides s at blank lines, list items, and the borders of tables and code.
func elements(s string) []element {
	var out []element
	var now element
	open, fence := false, ""
	end := 0
	flush := func() {
		if open && now.Start < end {
			now.End = end
			if n := len(out); n > 0 {
				now.joins = now.kind == out[n-1].kind && (now.kind == item || now.kind == row)
			}
			out = append(out, now)
		}
		open = false
	}
	begin := func(kind, at int) {
		flush()
		now, open = element{Block: Block{Start: at}, kind: kind}, true
	}
	for at, line := range lines(s) {
		bare := strings.TrimSpace(line)
		from := at + len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
		to := from + len(bare)
		switch {
		case fence != "":
			if closesFence(bare, fence) {
				fence = ""
				end = to
				flush()
				continue
			}
		case opensFence(bare):
			begin(fenced, from)
			fence = bare[:3]
		case bare == "":
			flush()
			continue
		case strings.HasPrefix(bare, "|"):
			if !open || now.kind != row {
				begin(row, from)
			}
		case itemMarker(line) > 0:
			begin(item, from)
		case !open:
			begin(prose, from)
		}
		if bare != "" {
			end = to
		}
	}
	flush()
	return out
}
