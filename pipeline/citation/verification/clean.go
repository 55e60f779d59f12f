package verification

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/address"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
)

// readAs begins the ids by which the tree knows entries; no run has such ids.
const readAs = "CIT-0-"

// tree returns the text without its references as blocks, with the entries that it cites.
func (v *verifier) tree() []report.Block {
	var edits []citation.Edit
	change := func(start, end int, with string) {
		edits = append(edits, citation.Edit{Start: start, End: end, With: with})
	}
	for _, h := range v.heads {
		change(h.start, h.end, "")
	}
	rows := false
	for _, e := range v.entries {
		end := e.end
		if e.style == rowStyle {
			rows, end = true, min(end+1, len(v.Markdown))
		}
		change(e.start, end, "")
	}
	entries, rowEnd, hidden := v.entries, -1, 0 // hidden: the end of a link that leads elsewhere than it says
	for _, k := range v.Tokens {
		for len(entries) > 0 && entries[0].end <= k.Start {
			entries = entries[1:]
		}
		switch {
		case len(entries) > 0 && entries[0].start <= k.Start || k.Coded:
		case k.Kind != citation.KindMarker && k.Start < hidden:
			edits = append(edits, v.Unlink(k, citation.SiteName(k.Dest))...)
		case k.Kind != citation.KindMarker:
			change, stays := v.link(k)
			if edits = append(edits, change...); !stays {
				hidden = k.End
			}
		default:
			cited, ok := v.cites(k, rowEnd)
			if ok {
				change(k.Start, k.End, canonical(cited, k))
				rowEnd = k.End
			} else if len(k.IDs) > 0 && !k.Bare || k.Linked { // of another report
				shown := linkPart.ReplaceAllString(v.Markdown[k.Start:k.End], "")
				change(k.Start, k.End, report.Escape(strings.Trim(shown, `\`)))
			}
		}
	}
	blocks := report.ParseText(v.Apply(0, len(v.Markdown), edits))
	if rows { // the head of a table of references
		blocks = slices.DeleteFunc(blocks, func(b report.Block) bool { return b.Kind == report.KindTable && len(b.Rows) < 2 })
	}
	return blocks
}

var linkPart = regexp.MustCompile(`\(#[^()\s]*\)`)

// canonical returns what stands for a marker until it is rendered.
func canonical(cited []*entry, k citation.Token) string {
	with := ""
	for _, e := range cited {
		with += "[" + readAs + strconv.Itoa(e.at) + "]"
	}
	if with == "" {
		return citation.Gone
	}
	if at := strings.Trim(k.Locator, " ,:"); at != "" {
		with += " (" + at + ")"
	}
	return with
}

// cites returns the entries that a marker cites; false if it is not one of this text.
func (v *verifier) cites(k citation.Token, rowEnd int) (cited []*entry, ok bool) {
	add := func(e *entry) {
		if e != nil && e.left() != nil && !slices.Contains(cited, e.left()) {
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

// source returns the source that an address in the text leads to, and notes it as cited.
func (v *verifier) source(dest string) (e *entry, ok bool) {
	at, level, ok := v.Lead(dest)
	if !ok || citation.Unfit(v.At(at).URL) != "" {
		return nil, false
	}
	return v.citing(at, level), true
}

// link decides on a link or address outside the references, and on tags. What leads to a source stays, with the
// source's own address.
func (v *verifier) link(k citation.Token) (edits []citation.Edit, stays bool) {
	gone := []citation.Edit{{Start: k.Start, End: k.End, With: citation.Gone}}
	d, kind := citation.Destination(k.Dest)
	if k.Kind == citation.KindTag {
		if citation.HasAddress(v.Markdown[k.Start:k.End]) {
			v.out.BodyURLsRemoved++
		}
		return gone, true
	} else if kind == citation.Harmless {
		return nil, true
	}
	if e, ok := v.source(d); ok {
		own := citation.SafeSpelling(v.At(e.source).URL)
		if own != k.Dest {
			v.out.BodyURLsReplaced++
		}
		if own != k.Dest || k.Labelled {
			edits = append(edits, v.Relink(k, own))
		}
		return edits, true
	}
	if !k.Labelled || kind == citation.Unsafe { // its definition has an address that counts
		v.out.BodyURLsRemoved++
	}
	if a, ok := address.Parse(d); kind == citation.Unsafe || !ok || a.IsIP() {
		v.out.UnsafeURLs = append(v.out.UnsafeURLs, d)
	}
	if k.IsZero() {
		return v.Unlink(k, citation.SiteName(d)), false
	}
	if cited, ok := v.cites(k, -1); ok && len(cited) > 0 { // [1](https://...)
		gone[0].With = canonical(cited[:1], k)
	}
	return gone, false
}

// render returns the cleaned report: the tree, and the references that stay.
func (v *verifier) render(blocks []report.Block) string {
	cited := report.Report{Sections: []report.Section{{Blocks: blocks}}}
	for _, e := range v.kept {
		one := report.Entry{IDs: []string{readAs + strconv.Itoa(e.at)}, Text: e.written}
		one.Label = cmp.Or(e.id, strconv.Itoa(e.final))
		cited.References = append(cited.References, report.Reference{Entries: []report.Entry{one}})
	}
	title := "Sources"
	if len(v.heads) > 0 {
		words := text.Line(markdown.Plain(htmlTag.ReplaceAllString(v.text(v.heads[0]), "")))
		title = markdown.EscapeInline(strings.Trim(words, "#*_:：=> "), 0)
	}
	return cited.Markdown(report.Style{References: title})
}

// sentences returns what cites something, each sentence once.
func (v *verifier) sentences(blocks []report.Block) (out []Sentence) {
	seen := map[string]bool{} // a text may repeat a sentence thousands of times
	for _, s := range report.Statements(blocks) {
		ids := s.IDs()
		if s.IsRow() && s.Head == "" {
			continue
		} else if s.IsRow() { // the heads of columns cite for each row
			ids = append(ids, report.Cited([]report.Block{{Rows: s.Block.Rows[:1]}})...)
		}
		one := Sentence{Text: s.Text(), Head: s.Head}
		cite := func(e *entry) {
			if number := cmp.Or(max(0, e.number), e.at); !slices.Contains(one.Citations, number) {
				one.Citations, one.Sources = append(one.Citations, number), append(one.Sources, e.source)
			}
		}
		for _, id := range ids {
			at, err := strconv.Atoi(strings.TrimPrefix(id, readAs))
			if err == nil && at >= 1 && at <= len(v.entries) {
				cite(v.entries[at-1])
			}
		}
		if citation.HasAddress(one.Text) {
			for _, l := range v.Links(one.Text) {
				if e, ok := v.source(l.URL); ok {
					cite(e)
				}
			}
			one.Text = text.Line(linkOrAddress.ReplaceAllString(one.Text, "$1"))
		}
		one.Text = strings.TrimRight(one.Text, " |")
		if key := fmt.Sprint(one); one.Text != "" && len(one.Citations) > 0 && !seen[key] {
			seen[key] = true
			out = append(out, one)
		}
	}
	return out
}

// linkOrAddress is a link, of which the text is read, or an address.
var linkOrAddress = regexp.MustCompile(`\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<?(?:https?://|www\.)\S*`)
