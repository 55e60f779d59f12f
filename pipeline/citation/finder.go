package citation

import "strings"

// finder finds strings in a text at non-decreasing offsets, so that each part of the text is searched once per string.
type finder struct {
	text string
	at   map[string]int // offset of the next occurrence; -1 = none
}

func newFinder(text string) *finder { return &finder{text, map[string]int{}} }

// next returns the offset of the first s at or after from, or -1.
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
