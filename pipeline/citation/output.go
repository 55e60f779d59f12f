package citation

import (
	"bytes"
	"strings"
)

// output is the rewritten part of a text. White space is held back until the following text is known.
type output struct {
	from     string // the text
	foreign  bool   // a text from outside: every scheme counts, anchors and ids stay
	out      bytes.Buffer
	space    string          // white space held back
	outMark  int             // where the last marker ends in out
	adjacent map[string]bool // ids of the markers that end there
}

func (o *output) copy(start, end int) {
	s := o.from[start:end]
	if strings.Trim(s, " \t\u00a0\u202f\u3000") == "" {
		o.space += s
		return
	}
	o.out.WriteString(o.space)
	o.space = ""
	o.out.WriteString(s)
}

// write replaces the skipped input by text.
func (o *output) write(s string) {
	o.out.WriteString(o.space)
	o.space = ""
	o.out.WriteString(s)
}

// insert puts a marker, or nothing, in the place of what ends at next, and returns where to go on. gone: no text stays
// of what was there.
func (o *output) insert(marker string, next int, gone bool) int {
	if marker = o.cite(marker); marker != "" {
		if !gone {
			o.space = " "
		}
		o.write(marker)
		o.outMark = o.out.Len()
		return next
	}
	if gone {
		return o.gone(next)
	}
	return next
}

// cite returns the markers that are not yet at the end of the output.
func (o *output) cite(markers ...string) string {
	if o.out.Len() != o.outMark {
		o.adjacent = nil
	}
	var b strings.Builder
	for _, m := range markers {
		if m != "" && o.fresh(m) {
			b.WriteString(m)
		}
	}
	return b.String()
}

// fresh reports whether the id does not stand in the same row of markers already.
func (o *output) fresh(id string) bool {
	if o.adjacent[id] {
		return false
	}
	if o.adjacent == nil {
		o.adjacent = map[string]bool{}
	}
	o.adjacent[id] = true
	return true
}
