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
	w := walker{text: t.text, code: t.code, markerEnd: -1}
	inRange := func(n int) bool { return n >= 1 && n <= len(t.r.sources) }
	note := func(at int, g group) bool {
		if len(g.ids) > 0 || !slices.ContainsFunc(g.numbers, inRange) || !w.isCitation(at, g) {
			return false
		}
		cited = append(cited, g.numbers...)
		return true
	}
	w.links.foreign = true
	w.links.allKnown = func(_ int, g group) bool {
		return !slices.ContainsFunc(g.numbers, func(n int) bool { return !inRange(n) })
	}
	w.onGroup = func(at int, g group) (string, bool) {
		note(at, g)
		return "", false
	}
	w.run()
	slices.Sort(cited)
	var b strings.Builder
	for _, n := range slices.Compact(cited) {
		if !inRange(n) {
			continue
		}
		s := t.r.sources[n-1]
		target := s.Key
		if s.URL != "" {
			target = safeSpelling(s.URL)
		}
		if title := text.Line(s.Title); title != "" && title != target {
			target = Escape(title) + ": " + target
		}
		b.WriteString("[" + strconv.Itoa(n) + "] " + target + "\n")
	}
	if b.Len() == 0 {
		return t
	}
	return t.changed(strings.TrimRight(CloseCode(t.text), " \t\n") + "\n\n## " + sourcesHeading(t.text) +
		"\n" + b.String())
}
