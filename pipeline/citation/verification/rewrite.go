package verification

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/report"
)

// change replaces a part of the text.
func (v *verifier) change(start, end int, with string) {
	v.edits = append(v.edits, markup.Edit{Start: start, End: end, With: with})
}

// rewrite decides what changes about entries, markers and addresses.
func (v *verifier) rewrite() {
	for _, e := range v.entries {
		v.read = append(v.read, markup.Edit{Start: e.start, End: e.end, With: markup.Gone})
		switch n := strconv.Itoa(e.final); {
		case !e.stays():
			v.change(e.start, e.end, markup.Gone)
		case e.id != "" || e.name != "":
		case e.digits[1] == 0:
			v.change(e.body, e.body, "["+n+"] ")
		case e.number != e.final:
			v.change(e.digits[0], e.digits[1], n)
			if e.anchor[1] > 0 {
				v.change(e.anchor[0], e.anchor[1], n)
			}
		}
	}
	entries, rowEnd, hidden := v.entries, -1, 0 // hidden: the end of a link that leads elsewhere than it says
	var row []string
	for _, k := range v.Tokens {
		for len(entries) > 0 && entries[0].end <= k.Start {
			entries = entries[1:]
		}
		if len(entries) > 0 && entries[0].start <= k.Start || k.Coded {
			continue
		}
		switch {
		case k.Kind != markup.Marker && k.Start < hidden:
			v.edits = append(v.edits, v.Unlink(k, citation.SiteName(k.Dest))...)
			continue
		case k.Kind != markup.Marker:
			if !v.link(k) {
				hidden = k.End
			}
			continue
		}
		cited, ok := v.cites(k, rowEnd)
		if !ok {
			continue
		}
		if k.Start != rowEnd {
			row = nil
		}
		with, read := "", ""
		for _, e := range cited {
			if marker := e.marker(k); !slices.Contains(row, marker) {
				row, with, read = append(row, marker), with+marker, read+e.canonical()
			}
		}
		if rowEnd = k.End; with == "" {
			with, read = markup.Gone, markup.Gone
		}
		v.change(k.Start, k.End, with)
		v.read = append(v.read, markup.Edit{Start: k.Start, End: k.End, With: read})
	}
	v.read = append(v.read, v.edits...)
}

// cites returns the entries that a marker cites; false if it is not one of this text.
func (v *verifier) cites(k markup.Token, rowEnd int) (cited []*entry, ok bool) {
	add := func(e *entry) {
		if e != nil && e.left() != nil {
			cited = append(cited, e.left())
		}
	}
	if e, known := v.byID[strings.Trim(v.Markdown[k.Start:k.End], "[]")]; known { // a footnote
		add(e)
		return cited, true
	} else if k.Name != "" {
		return nil, false
	}
	for _, id := range k.IDs {
		add(v.byID[id])
	}
	for _, n := range k.Numbers {
		e, known := v.meant(n, k.Start)
		invented := n > 0 && n < 1000 && !k.Hash && len(v.entries) > 0 // no year, size or number of another thing
		if !known && !invented {
			return nil, false
		}
		add(e)
	}
	if len(k.IDs) > 0 {
		return cited, len(v.byID) > 0 && !k.Bare
	}
	return cited, v.IsCitation(k, true, rowEnd)
}

// marker returns the citation of the entry in the form of a marker.
func (e *entry) marker(k markup.Token) string {
	n := strconv.Itoa(e.final)
	switch {
	case e.id != "" && k.Linked:
		return "[[" + e.id + "](#ref-" + strings.ToLower(e.id) + ")]"
	case e.id != "":
		return "[" + e.id + "]"
	case e.name != "":
		return "[^" + e.name + "]"
	case e.isNote():
		return "[^" + n + k.Locator + "]"
	case k.Linked && e.anchor[1] > 0:
		return "[[" + n + "](#ref-" + n + ")]"
	}
	return "[" + n + k.Locator + "]"
}

// readAs begins the ids by which package report knows entries; no run has such ids.
const readAs = "CIT-0-"

func (e *entry) canonical() string { return "[" + readAs + strconv.Itoa(e.at) + "]" }

// link decides on a link or address outside the references, and on tags. What leads to a source stays, with the
// source's own address.
func (v *verifier) link(k markup.Token) (stays bool) {
	d, kind := citation.Destination(k.Dest)
	if k.Kind == markup.Tag {
		if v.change(k.Start, k.End, markup.Gone); citation.HasAddress(v.Markdown[k.Start:k.End]) {
			v.out.BodyURLsRemoved++
		}
		return true
	} else if kind == citation.Harmless {
		return true
	}
	at, level, ok := v.MatchURL(d)
	if ok && (level == citation.MatchExact || !citation.IsSite(d)) && citation.Unfit(v.At(at).URL) == "" {
		if own := citation.SafeSpelling(v.At(at).URL); own != k.Dest {
			v.out.BodyURLsReplaced++
			v.edits = append(v.edits, v.Relink(k, own))
		}
		if k.Kind != markup.Definition {
			read := v.Unlink(k, "")
			read[len(read)-1].With = " " + v.citing(at, level).canonical()
			v.read = append(v.read, read...)
		}
		return true
	}
	if !k.Labelled { // its definition counts
		v.out.BodyURLsRemoved++
	}
	if a, ok := address.Parse(d); kind == citation.Unsafe || !ok || a.IsIP() {
		v.out.UnsafeURLs = append(v.out.UnsafeURLs, d)
	}
	if k.IsZero() {
		v.edits = append(v.edits, v.Unlink(k, citation.SiteName(d))...)
		return false
	}
	with := markup.Gone // [1](https://...)
	if cited, ok := v.cites(k, -1); ok && len(cited) > 0 {
		with = cited[0].marker(k)
	}
	v.change(k.Start, k.End, with)
	return false
}

// sentences returns what cites something, as package report reads the text.
func (v *verifier) sentences() (out []Sentence) {
	all := append(slices.Clone(v.entries), v.added...)
	for _, s := range report.Statements(report.Parse(v.Apply(v.read))) {
		ids := s.IDs()
		if s.IsRow() && s.Head == "" {
			continue
		} else if s.IsRow() { // the heads of columns cite for each row
			ids = append(ids, report.Cited([]report.Block{{Rows: s.Block.Rows[:1]}})...)
		}
		one := Sentence{Text: strings.TrimRight(s.Text(), " |"), Head: s.Head}
		for _, id := range ids {
			at, err := strconv.Atoi(strings.TrimPrefix(id, readAs))
			if err != nil || at < 1 || at > len(all) {
				continue
			}
			e := all[at-1]
			number := cmp.Or(max(0, e.number), e.at)
			if !slices.Contains(one.Citations, number) {
				one.Citations, one.Sources = append(one.Citations, number), append(one.Sources, e.source)
			}
		}
		if one.Text != "" && len(one.Citations) > 0 {
			out = append(out, one)
		}
	}
	return out
}
