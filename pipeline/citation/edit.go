package citation

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Edit replaces a part of a text.
type Edit struct {
	Start, End int
	With       string
}

// Gone replaces what leaves nothing behind: Apply also removes the space, brackets and conjunctions around it.
const Gone = "\x00"

// Relink gives a link or address another destination.
func (t *Text) Relink(k Token, dest string) Edit {
	switch {
	case k.Kind == KindLink:
		return Edit{k.Text[1], k.End, "](" + dest + ")"}
	case t.Markdown[k.Start] == '<':
		dest = "<" + dest + ">"
	}
	return Edit{k.Start, k.End, dest}
}

// Unlink removes the address of a token. The text of a link stays; of an address, the name of its site.
func (t *Text) Unlink(k Token, site string) []Edit {
	switch {
	case k.Kind == KindLink && strings.TrimSpace(t.Markdown[k.Text[0]:k.Text[1]]) != "":
		return []Edit{{k.Start, k.Text[0], ""}, {k.Text[1], k.End, ""}}
	case k.Kind == KindAddress && site != "":
		return []Edit{{k.Start, k.End, site}}
	}
	return []Edit{{k.Start, k.End, Gone}}
}

// Apply returns a part of the text with edits. Of two that overlap, the first counts.
func (t *Text) Apply(start, end int, edits []Edit) string {
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	var b strings.Builder
	pos, gone := start, false
	for _, e := range edits {
		if e.Start < pos || e.End > end {
			continue
		}
		b.WriteString(t.Markdown[pos:e.Start])
		b.WriteString(e.With)
		pos, gone = e.End, gone || e.With == Gone
	}
	b.WriteString(t.Markdown[pos:max(pos, end)])
	if !gone {
		return b.String()
	}
	return tidy(b.String())
}

const (
	joint  = `[ ]?(?:[,;&/、，；–-]?[ ]?(?:and|or|und|et|y|to|through)\b|[,;&/、，；–和及与-])[ ]?`
	blanks = `[ \t\x{a0}\x{202f}\x{3000}]`
	joins  = `(?:` + joint + `|[ ]?)`
)

// traces are what removed citations leave behind, with what stays of it.
var traces = []struct {
	form *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[(（\[]\s*(?:` + leads + `\.?\s*[:：]?\s*)?\x00\s*[)）\]]`), Gone},
	{regexp.MustCompile(`<sup>\x00</sup>|\*\*\x00\*\*|__\x00__|\*\x00\*|\b_\x00_\b|\^\x00\^`), Gone},
	{regexp.MustCompile(`\x00(?:` + joins + `\x00)+`), Gone}, // a row
	{regexp.MustCompile(`\x00` + joint + `(\[(?:CIT|PLAN)-)`), "$1"},
	{regexp.MustCompile(`(\[(?:CIT|PLAN)-[0-9-]+\])` + joint + `\x00`), "$1"},
	{regexp.MustCompile(`(?im)(^|[.!?])[ ]*` + leads + `[:：]?[ ]\x00[.。]`), "$1"}, // a sentence that only cites
	{regexp.MustCompile(`[,，、]?` + blanks + `*\x00[ \t]*([.。\n]|\z)`), "$1"},
	{regexp.MustCompile(`([,;:，；：、.。!?！？])[ \t]*\x00[,;，；、]`), "$1"},
	{regexp.MustCompile(blanks + `+\x00((?:\*{1,3}|_{1,3}|~~|==)?` +
		`(?:[ \t\n\x{a0}.,;:!?)\]}“”’»…。，；：！？）】،؛؟]|\z))`), "$1"},
	{regexp.MustCompile(`\x00`), ""},
}

func tidy(s string) string {
	for _, t := range traces {
		s = t.form.ReplaceAllString(s, t.with)
	}
	return s
}
