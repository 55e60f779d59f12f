package citation

import "strings"

// finder finds strings in a text from places that never go back, so that each part of the text is searched once for
// each string.
type finder struct {
	text string
	at   map[string]int // where a string comes next; -1: not any more
}

func newFinder(text string) *finder { return &finder{text, map[string]int{}} }

// next returns where s begins at or behind from, and -1 when it does not.
func (f *finder) next(s string, from int) int {
	at, known := f.at[s]
	if !known || at >= 0 && at < from {
		if at = strings.Index(f.text[from:], s); at >= 0 {
			at += from
		}
		f.at[s] = at
	}
	return at
}
