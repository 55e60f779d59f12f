package verification

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/markdown"
)

// otherMarker is a marker with one of the other spellings that models use: <sup>1</sup>, also with brackets and with a
// link to a note, <ref>1</ref>, <a href="#ref-1">1</a>, ^1^ of Pandoc, \[1\] and &#91;1&#93; with escaped brackets, ¹.
var otherMarker = regexp.MustCompile(`(?i)<(sup|ref|cite)(?:\s[^<>]{0,100})?> ?` +
	`((?:<a\s[^<>]{0,40}href=["']?#[^<>]{0,100}>)?\[?)(` + numbers + `)\]?(?:</a>)? ?</(?:sup|ref|cite)>` +
	`|<a\s[^<>]{0,60}href=["']?#[^<>]{0,100}> ?\[?(` + numbers + `)\]? ?</a>|\^(` + numbers + `)\^` +
	`|(?:\\\[|&#91;|&#x5b;|&lbrack;)(` + numbers + `)(?:\\\]|&#93;|&#x5d;|&rbrack;)|([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})`)

const numbers = `[0-9]{1,3}(?:[,;–-] ?[0-9]{1,3}){0,9}(?:\]\[[0-9]{1,3}){0,9}|(?:CIT|PLAN)[-0-9]{2,20}`

// superscripts are the raised digits of Unicode.
var superscripts = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7",
	"⁸", "8", "⁹", "9", "][", ",")

// exponentBase ends with what a raised number is an exponent of, such as 10 and m.
var exponentBase = regexp.MustCompile(`(?i)(?:[0-9]|(?:^|[^a-z])[a-z]{1,2}|[$√∑∏])$`)

// plainMarkers rewrites markers in the usual form, [1], if a list has their numbers. Code is not changed. places:
// without a list, numbers are places in the registry's sources.
func (t *reading) plainMarkers(places bool) *reading {
	text, listed, ids := t.Markdown, map[int]bool{}, map[string]bool{}
	for n := range t.r.Len() {
		listed[n+1] = places && len(t.lists) == 0
	}
	for _, s := range t.lists {
		for i, e := range s.entries {
			listed[e.number], ids[e.id] = true, true
			listed[i+1] = listed[i+1] || e.number == noNumber
		}
	}
	var changes []markup.Change
	for _, m := range otherMarker.FindAllStringSubmatchIndex(text, -1) {
		part := func(n int) string { return text[max(0, m[2*n]):max(0, m[2*n+1])] }
		with := "[" + superscripts.Replace(part(3)+part(4)+part(5)+part(6)+part(7)) + "]"
		g, ok := markup.ParseGroup(with, 0, 0)
		raised := part(5)+part(7) != "" || strings.EqualFold(part(1), "sup") && part(2) == ""
		unlisted := slices.ContainsFunc(g.Numbers, func(n int) bool { return !listed[n] }) ||
			slices.ContainsFunc(g.IDs, func(id markup.ID) bool { return !ids[id.String()] })
		if !ok || unlisted || raised && exponentBase.MatchString(text[max(0, m[0]-8):m[0]]) {
			continue
		}
		changes = append(changes, markup.Change{Start: m[0], End: m[1], With: with})
	}
	return t.changed(t.Replace(changes))
}

// note is a footnote's marker, noteLabel its label below the text.
var (
	note      = regexp.MustCompile(`\[\^([^\[\]\s^]{1,80})\]`)
	noteLabel = regexp.MustCompile(`^ {0,3}\[\^([^\[\]\s^]{1,80})\]:`)
)

// numberNotes gives numbers to the footnotes with names that lead somewhere, and others to those with a number of a
// list below a heading.
func (t *reading) numberNotes() *reading {
	top, listed := 0, map[int]bool{}
	var inside markup.Spans
	for _, s := range t.lists {
		for _, e := range s.entries {
			top = max(top, e.number)
			if s.start >= 0 && e.number >= 0 {
				listed[e.number] = true
				inside = append(inside, markup.Span{e.start, e.end + 1})
			}
		}
	}
	numbers, notes := map[string]string{}, map[int]string{}
	for i, l := range t.lines {
		m := noteLabel.FindStringSubmatch(t.line(i))
		if m == nil || l.code || !hasTarget(t.r, t.line(i)[len(m[0]):]) {
			continue
		}
		n, digits := markup.ScanNumber(m[1])
		if named := digits < len(m[1]); named && numbers[m[1]] == "" || listed[n] && !inside.Has(l.start) {
			top++
			numbers[m[1]], notes[top] = "[^"+strconv.Itoa(top)+"]", m[1]
		}
	}
	var changes []markup.Change
	for _, m := range note.FindAllStringSubmatchIndex(t.Markdown, -1) {
		if n := numbers[t.Markdown[m[2]:m[3]]]; n != "" && !inside.Has(m[0]) {
			changes = append(changes, markup.Change{Start: m[0], End: m[1], With: n})
		}
	}
	changed := t.changed(t.Replace(changes))
	changed.notes = notes
	return changed
}

// widthless are characters that show nothing.
const widthless = "\u00ad\u200b\u2060\ufeff"

var (
	withoutHidden = strings.NewReplacer("\u00ad", "", "\u200b", "", "\u2060", "", "\ufeff", "")
	turner        = regexp.MustCompile("[" + markdown.Turning + "]")
	hiddenWord    = regexp.MustCompile("[^ \t\n]*[" + widthless + "][^ \t\n]*")
)

// unhide removes characters that disguise text: bidirectional controls, and zero-width characters within addresses.
// Code is not changed.
func unhide(text string) string {
	text = replaceOutsideCode(text, markdown.Turning, turner, func(string) string { return "" })
	return replaceOutsideCode(text, widthless, hiddenWord, func(word string) string {
		if shown := withoutHidden.Replace(word); citation.HasAddress(shown) {
			return shown
		}
		return word
	})
}

// replaceOutsideCode replaces the matches of a pattern, each of which has one of these characters.
func replaceOutsideCode(text, chars string, pattern *regexp.Regexp, with func(string) string) string {
	if !strings.ContainsAny(text, chars) {
		return text
	}
	var changes []markup.Change
	for _, m := range pattern.FindAllStringIndex(text, -1) {
		changes = append(changes, markup.Change{Start: m[0], End: m[1], With: with(text[m[0]:m[1]])})
	}
	return markup.OutsideCode(text, changes)
}
