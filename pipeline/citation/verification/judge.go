package verification

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
)

// target is what an entry leads to.
type target struct {
	source int    // position in the registry's sources; -1 = none
	level  string // one of the Match... constants
	place  string // the same for entries that lead to the same
	reason string // why the entry is removed; empty if it stays
	detail string
}

func (t *target) stays() bool { return t.reason == "" }

// judgeEntry looks up what an entry names: addresses first, then documents and titles.
func (v *verifier) judgeEntry(e *entry) {
	e.source = -1
	raw := v.Markdown[e.body:e.end]
	unresolved, refused := 0, false // refused: the registry has it, but a reader could not check it
	judge := func(dest string) (address string, stays bool) {
		d, kind := citation.Destination(dest)
		if kind == citation.Harmless {
			return "", true
		}
		at, level, ok := v.MatchURL(d)
		if ok {
			if detail := citation.Unfit(v.At(at).URL); detail != "" {
				e.detail, ok, refused = detail, false, true
			}
		}
		if !ok {
			if unresolved++; kind == citation.Unsafe || e.detail == citation.DetailUnsafe {
				v.out.UnsafeURLs = append(v.out.UnsafeURLs, d)
				e.detail = citation.DetailUnsafe
			}
			return "", false
		}
		if e.source < 0 {
			e.source, e.level = at, level
		}
		return citation.SafeSpelling(v.At(at).URL), true
	}
	hidden := 0 // the end of a link that leads elsewhere than it says
	for _, k := range v.From(e.start) {
		if k.Start >= e.end {
			break
		}
		if k.Start < hidden && k.Dest != "" {
			v.change(k.Start, k.End, citation.SiteName(k.Dest))
			continue
		}
		if k.Dest == "" {
			if k.Kind == markup.Tag {
				v.change(k.Start, k.End, markup.Gone)
			}
			continue
		}
		switch address, stays := judge(k.Dest); {
		case !stays:
			hidden = k.End
			v.edits = append(v.edits, v.Unlink(k, "")...)
		case address != "" && address != k.Dest:
			v.edits = append(v.edits, v.Relink(k, address))
		}
	}
	if e.source < 0 && unresolved == 0 {
		for _, name := range addressesOf(raw) {
			if at, level, ok := v.MatchURL(name); ok && level == citation.MatchExact && citation.Unfit(v.At(at).URL) == "" {
				e.source, e.level = at, level
				break
			}
		}
	}
	switch {
	case e.source >= 0:
		e.place, e.detail = citation.PlaceOf(v.At(e.source)), ""
	case unresolved > 0 || strings.Contains(raw, "://"):
		if e.reason = citation.ReasonUnknownURL; refused {
			e.reason = ReasonUnverifiable
		}
	default:
		v.judgeWords(e, raw)
	}
}

// judgeWords looks up an entry without an address.
func (v *verifier) judgeWords(e *entry, raw string) {
	at, key := v.MatchText(raw)
	switch {
	case at >= 0:
		e.source, e.level, e.place = at, citation.MatchKey, citation.PlaceOf(citation.Source{Key: key})
	case v.Titled(raw) >= 0:
		at = v.Titled(raw)
		s := v.At(at)
		e.source, e.level, e.place = at, citation.MatchTitle, citation.PlaceOf(s)
		if detail := citation.Unfit(s.URL); detail != "" && s.URL != "" {
			e.source, e.reason, e.detail = -1, ReasonUnverifiable, detail
		} else if s.URL != "" {
			end := e.body + len(strings.TrimRight(raw, " :："))
			v.change(end, e.end, ": "+citation.SafeSpelling(s.URL))
		}
	case key != "":
		e.reason = citation.ReasonUnknownKey
	default:
		e.reason = ReasonUnverifiable
	}
}

// nameForm is what papers are called by, doi:10.1000/182 and arXiv:2401.01234, or an address without a scheme.
var nameForm = regexp.MustCompile(`(?i)\b(?:doi[:：]?[ ]?(10\.[0-9]{4,9}/[^\s<>"` + "`" +
	`|]+)|arxiv[:：][ ]?([0-9]{4}\.[0-9]{4,5}(?:v[0-9]{1,2})?))|(?:^|[\s(<\[*"“` + "`" + `])((?:[\pL\pN-]+\.)+[\pL]{2,24}` +
	`/[^\s<>"` + "`" + `|]+)`)

// addressesOf returns the addresses that names of papers, and addresses without a scheme, stand for.
func addressesOf(raw string) (found []string) {
	for _, m := range nameForm.FindAllStringSubmatch(raw[:min(len(raw), citation.MaxLine)], 8) {
		switch {
		case m[1] != "":
			found = append(found, "https://doi.org/"+markup.AddressIn(m[1]))
		case m[2] != "":
			found = append(found, "https://arxiv.org/abs/"+m[2])
		default:
			found = append(found, "https://"+markup.AddressIn(m[3]))
		}
	}
	return found
}

// findDuplicates marks entries that cite what an entry with a lower number cites. Citation ids are no numbers: several
// of them share a source by design.
func (v *verifier) findDuplicates() {
	order := slices.Clone(v.entries)
	slices.SortStableFunc(order, func(a, b *entry) int { return a.number - b.number })
	for _, e := range order {
		first := v.bySource[e.place]
		switch {
		case !e.stays() || e.place == "":
		case first == nil:
			v.bySource[e.place] = e
		case e.id == "" && first.id == "":
			e.same, e.reason = first, ReasonDuplicate+strconv.Itoa(first.number)
		}
	}
}

// number gives every entry that stays its number in the result.
func (v *verifier) number() {
	kept := slices.DeleteFunc(slices.Clone(v.entries), func(e *entry) bool { return !e.stays() || e.id != "" })
	order := func(e *entry) uint { return uint(e.number) } // entries without numbers, -1, come last
	slices.SortStableFunc(kept, func(a, b *entry) int { return cmp.Compare(order(a), order(b)) })
	for i, e := range kept {
		e.final = i + 1
	}
	v.top = len(kept)
}

// left returns the entry that is left of this one: itself, the one that it duplicates, or nil.
func (e *entry) left() *entry {
	if e.same != nil {
		e = e.same
	}
	if !e.stays() {
		return nil
	}
	return e
}

// meant returns the entry that a number means at a place of the text: in the list that comes next, else in the last one
// that has it. known: a list has such a number, though its entry may be gone.
func (v *verifier) meant(number, pos int) (found *entry, known bool) {
	list := -1
	for _, e := range v.byNumber[number] {
		switch {
		case e.list != list && known && v.ending[list] >= pos:
			return found, true
		case e.list != list:
			found, list = e.left(), e.list
		case found == nil:
			found = e.left()
		}
		known = true
	}
	return found, known
}

// citing returns the entry that cites a source. It adds one for a source that the text links but the references lack.
func (v *verifier) citing(at int, level string) *entry {
	place := citation.PlaceOf(v.At(at))
	if e := v.bySource[place]; e != nil {
		return e
	}
	n := len(v.added) + 1
	e := &entry{at: len(v.entries) + n, label: label{number: v.top + n}}
	e.target = target{source: at, level: level, place: place}
	v.bySource[place], v.added = e, append(v.added, e)
	return e
}
