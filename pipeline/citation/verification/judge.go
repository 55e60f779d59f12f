package verification

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/text"
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
	var edits []citation.Edit
	unresolved, refused := 0, false // refused: the registry has it, but a reader could not check it
	hidden := 0                     // the end of a link that leads elsewhere than it says
	for _, k := range v.From(e.start) {
		if k.Start >= e.end {
			break
		}
		d, kind := citation.Destination(k.Dest)
		switch {
		case k.Start < hidden && k.Dest != "" || k.Kind == citation.KindTag:
			edits = append(edits, citation.Edit{Start: k.Start, End: k.End, With: citation.SiteName(k.Dest)})
			continue
		case k.Dest == "" || kind == citation.Harmless:
			continue
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
			hidden = k.End
			edits = append(edits, v.Unlink(k, "")...)
			continue
		}
		if e.source < 0 {
			e.source, e.level = at, level
		}
		if own := citation.SafeSpelling(v.At(at).URL); own != k.Dest || k.Labelled {
			edits = append(edits, v.Relink(k, own))
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
	e.written = shown(v.Apply(e.body, e.end, edits))
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

// itemTag is a tag that stands around an entry.
var itemTag = regexp.MustCompile(`(?i)</?(?:li|p|ol|ul|br|div)\b[^<>]*>`)

// shown returns an entry's text on one line, without what opened or closes around it.
func shown(entry string) string {
	entry = strings.Trim(text.Line(itemTag.ReplaceAllString(entry, " ")), "| ")
	for _, mark := range []string{"**", "__"} {
		if strings.Count(entry, mark)%2 == 1 {
			entry = strings.Replace(entry, mark, "", 1)
		}
	}
	return entry
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
			e.written = strings.TrimRight(e.written, " :：") + ": " + citation.SafeSpelling(s.URL)
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
			found = append(found, "https://doi.org/"+citation.AddressIn(m[1]))
		case m[2] != "":
			found = append(found, "https://arxiv.org/abs/"+m[2])
		default:
			found = append(found, "https://"+citation.AddressIn(m[3]))
		}
	}
	return found
}

// number gives every entry that stays its number in the result, and marks those that cite what an entry before them
// cites. Citation ids are no numbers: several of them share a source by design.
func (v *verifier) number() {
	order := slices.Clone(v.entries)
	place := func(e *entry) uint { return uint(e.number) } // entries without numbers, -1, come last
	slices.SortStableFunc(order, func(a, b *entry) int { return cmp.Compare(place(a), place(b)) })
	for _, e := range order {
		first := v.bySource[e.place]
		switch {
		case !e.stays() || e.place == "":
		case first == nil:
			v.bySource[e.place] = e
		case e.id == "" && first.id == "":
			e.same, e.reason = first, ReasonDuplicate+strconv.Itoa(first.number)
		}
		if !e.stays() {
			continue
		}
		if v.kept = append(v.kept, e); e.id == "" {
			v.top++
			e.final = v.top
		}
	}
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
	for _, e := range v.byNumber[number] {
		if known && found.list != e.list && v.ending[found.list] >= pos {
			break
		}
		if !known || found.list != e.list || found.left() == nil {
			found, known = e, true
		}
	}
	if known {
		found = found.left()
	}
	return found, known
}

// citing returns the entry that cites a source. It adds one for a source that the text links but the references lack.
func (v *verifier) citing(at int, level string) *entry {
	place := citation.PlaceOf(v.At(at))
	if e := v.bySource[place]; e != nil {
		return e
	}
	e := &entry{at: len(v.entries) + len(v.added) + 1, label: label{number: v.top + len(v.added) + 1}}
	e.target = target{source: at, level: level, place: place}
	v.bySource[place], v.added = e, append(v.added, e)
	return e
}
