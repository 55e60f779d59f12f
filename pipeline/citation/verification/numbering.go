package verification

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

// findDuplicates marks entries that cite what an entry with a lower number cites. Citation ids are no numbers: several
// of them share a source by design.
func (v *verifier) findDuplicates() {
	order := slices.Clone(v.entries)
	slices.SortStableFunc(order, func(a, b *entry) int { return a.number - b.number })
	for _, e := range order {
		if e.reason != "" {
			continue
		}
		if e.id != "" {
			if v.bySource[e.place] == nil {
				v.bySource[e.place] = e
			}
			continue
		}
		if first := v.bySource[e.place]; first != nil && e.place != "" && first.id == "" {
			e.same, e.reason = first, ReasonDuplicate+strconv.Itoa(first.number)
			continue
		}
		if e.place != "" {
			v.bySource[e.place] = e
		}
	}
}

// number assigns every remaining entry its number in the result.
func (v *verifier) number() {
	for _, e := range v.entries {
		if e.id != "" {
			v.byID[e.id] = e
			continue
		}
		if e.number >= 0 {
			v.byNumber.add(e, v.lists[e.section].last().end)
		}
	}
	for _, lists := range v.byNumber {
		slices.SortFunc(lists, func(a, b numbered) int { return a.end - b.end })
	}
	kept := slices.DeleteFunc(slices.Clone(v.entries), func(e *entry) bool { return !e.stays() || e.id != "" })
	order := func(e *entry) uint { return uint(e.number) } // entries without numbers, -1, come last
	slices.SortStableFunc(kept, func(a, b *entry) int { return cmp.Compare(order(a), order(b)) })
	for i, e := range kept {
		e.final = i + 1
	}
	v.top = len(kept)
}

// meanings says which entries a number leads to: one for each list that has it, in the order of the lists.
type meanings map[int][]numbered

// numbered is what a number means in one list.
type numbered struct {
	section int
	end     int    // of the list, in bytes
	entry   *entry // nil: it was removed
}

// add notes what the number of an entry leads to: to the first entry of its list with that number that stays. end:
// where the list ends.
func (m meanings) add(e *entry, end int) {
	to := e
	if e.same != nil {
		to = e.same
	}
	if to.reason != "" {
		to = nil
	}
	known := m[e.number]
	for n := len(known) - 1; n >= max(0, len(known)-2); n-- { // footnotes come between those of a list
		if known[n].section == e.section {
			if known[n].entry == nil {
				known[n].entry = to
			}
			return
		}
	}
	m[e.number] = append(known, numbered{e.section, end, to})
}

// of returns the entry that a number means at a place of the text: in the list that comes next, else in the last one
// that has it. known: a list has such a number, though its entry may be gone.
func (m meanings) of(number, pos int) (e *entry, known bool) {
	lists := m[number]
	if len(lists) == 0 {
		return nil, false
	}
	at, _ := slices.BinarySearchFunc(lists, pos, func(n numbered, pos int) int { return n.end - pos })
	return lists[min(at, len(lists)-1)].entry, true
}

// marker returns the citation of the entry as written in the result.
func (e *entry) marker() string {
	n := strconv.Itoa(e.final)
	switch {
	case e.id != "":
		return "[[" + e.id + "](#ref-" + strings.ToLower(e.id) + ")]"
	case e.anchor:
		return "[[" + n + "](#ref-" + n + ")]"
	case e.footnote:
		return "[^" + n + "]"
	}
	return "[" + n + "]"
}

// located is the marker with the place in the source that the text names: [1, p. 5].
func (e *entry) located(place string) string {
	m := e.marker()
	if place == "" || m == "" || e.anchor || e.id != "" {
		return m
	}
	return m[:len(m)-1] + place + "]"
}

// list appends the list of references that a text without one means when its numbers are places in the registry's
// sources: with the sources that it cites. A text that cites none of them stays as it is.
func (t *reading) list() *reading {
	if len(t.lists) > 0 {
		return t
	}
	var cited []int
	around := markup.Surroundings{Text: t.Markdown, MarkerEnd: -1}
	for _, k := range t.Tokens {
		for _, n := range k.Group.Numbers {
			if n >= 1 && n <= t.r.Len() && around.IsCitation(k.Start, k.Group) {
				cited = append(cited, n)
			}
		}
	}
	slices.Sort(cited)
	var b strings.Builder
	for _, n := range slices.Compact(cited) {
		b.WriteString("[" + strconv.Itoa(n) + "] " + entryText(t.r.At(n-1)) + "\n")
	}
	if b.Len() == 0 {
		return t
	}
	return t.changed(strings.TrimRight(markup.CloseCode(t.Markdown), " \t\n") + "\n\n## Sources\n" + b.String())
}

// entryText is what an entry says of a source: its title and address, or document.
func entryText(s citation.Source) string {
	target := s.Key
	if s.URL != "" {
		target = citation.SafeSpelling(s.URL)
	}
	if title := text.Line(s.Title); title != "" && title != target {
		return markdown.Escape(title) + ": " + target
	}
	return target
}
