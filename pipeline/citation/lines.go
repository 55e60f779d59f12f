package citation

import (
	"strconv"
	"strings"
)

// findLines notes on which line of the text as it came each entry begins.
func (v *verifier) findLines(original string) {
	same := original == v.text
	pos, line, misses := 0, 1, 0
	for _, e := range v.entries {
		at := e.start
		if !same { // leaked calls were cut out of the text, or lists set off from their headings
			first, _, _ := strings.Cut(strings.TrimSpace(v.asItCame(e)), "\n")
			at = strings.Index(original[pos:], first)
			if at < 0 {
				if misses++; misses > 8 {
					return
				}
				continue
			}
			at += pos
		}
		line += strings.Count(original[pos:at], "\n")
		pos, e.line = at, line
	}
}

// asItCame returns an entry as the text had it.
func (v *verifier) asItCame(e *entry) string {
	text := strings.TrimSpace(v.text[e.start:e.end])
	if name := v.names[e.number]; name != "" {
		text = strings.Replace(text, "[^"+strconv.Itoa(e.number)+"]", "[^"+name+"]", 1)
	}
	return text
}
