package citation

import (
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/text"
)

// list appends the list of references that a text without one means when its numbers are places in the registry's
// sources: with the sources that it cites. A text that cites none of them stays as it is.
func (t *reading) list() *reading {
	if len(t.lists()) > 0 {
		return t
	}
	var cited []int
	w := newWalker(t.text, t.code)
	inRange := func(n int) bool { return n >= 1 && n <= len(t.r.sources) }
	w.foreign = true
	w.links.allKnown = func(numbers []int) bool {
		return !slices.ContainsFunc(numbers, func(n int) bool { return !inRange(n) })
	}
	w.onGroup = func(at int, g group) (string, bool) {
		if len(g.ids) == 0 && w.isCitation(at, g) {
			cited = append(cited, slices.DeleteFunc(g.numbers, func(n int) bool { return !inRange(n) })...)
		}
		return "", false
	}
	w.run()
	slices.Sort(cited)
	var b strings.Builder
	for _, n := range slices.Compact(cited) {
		b.WriteString("[" + strconv.Itoa(n) + "] " + entryText(t.r.sources[n-1]) + "\n")
	}
	if b.Len() == 0 {
		return t
	}
	return t.changed(strings.TrimRight(CloseCode(t.text), " \t\n") + "\n\n## " + sourcesHeading(t.text) +
		"\n" + b.String())
}

// entryText is what an entry says of a source: its title and address, or document.
func entryText(s Source) string {
	target := s.Key
	if s.URL != "" {
		target = safeSpelling(s.URL)
	}
	if title := text.Line(s.Title); title != "" && title != target {
		return Escape(title) + ": " + target
	}
	return target
}
