package reporting

import (
	"reflect"
	"regexp"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/recurring"
)

// linkedMarker is a marker with the space before it, which may be a line's end and no paragraph's.
var linkedMarker = regexp.MustCompile(`(?:[ \t]*\n)?[ \t]*\[\[([^\[\]]{1,40})\]\(#ref-([a-z0-9-]+)\)\]`)

// PlainSentences returns a report, or a sentence of it, without linked markers and with white space folded: each delivered
// sentence of a verification is part of that of its report.
func PlainSentences(markdown string) string {
	return fold(linkedMarker.ReplaceAllString(markdown, ""))
}

// Difference is where a report is not the one that was checked.
type Difference struct {
	Absent     []string // sentences that do not stand there, as often as they should and with their sources
	Unchecked  []string // the ends of passages with a marker that belongs to no sentence, or leads elsewhere than it says
	References []string // entries that are not those that were checked, or lead to other sources
}

// Compare looks whether a report is the one that was checked. registry: of its run; changes: what the report opens with, nil: it
// opens with none.
func (v *Verification) Compare(report string, registry *citation.Registry, changes *recurring.Changes) (d Difference) {
	again := registry.Verify(report, citation.VerifyOptions{})
	d.References = v.otherReferences(again)
	t := newCitedText(report, registry, again.Valid)
	for _, s := range append(toldChanges(changes), v.Sentences...) {
		if s.Action != ActionRemoved && !t.take(PlainSentences(s.Text), t.places(s.Citations)) {
			d.Absent = append(d.Absent, s.Text)
		}
	}
	for _, m := range t.markers {
		if !m.checked {
			d.Unchecked = append(d.Unchecked, strings.ToValidUTF8(t.text[max(0, m.at-60):m.at], "")+" ["+m.label+"]")
		}
	}
	return d
}

// toldChanges are the lines of the part on what has changed, which nobody judges: they are what sources say and said.
func toldChanges(c *recurring.Changes) (told []CheckedSentence) {
	if c == nil {
		return nil
	}
	tell := func(s recurring.Said) {
		bare := s
		bare.Citations = nil
		told = append(told, CheckedSentence{Text: said(bare), Citations: s.Citations})
	}
	for _, s := range c.New {
		tell(s)
	}
	for _, ch := range c.Changed {
		tell(ch.New)
		tell(ch.Old)
	}
	for _, w := range c.Withdrawn {
		tell(w.Said)
	}
	return told
}

// otherReferences compares the entries of the references with those that were checked.
func (v *Verification) otherReferences(again citation.Verification) (other []string) {
	for _, r := range again.Removed {
		other = append(other, r.Line)
	}
	for i := range max(len(again.Valid), len(v.Valid)) {
		var is, was citation.Valid
		if i < len(again.Valid) {
			is = again.Valid[i]
		}
		if i < len(v.Valid) {
			was = v.Valid[i]
		}
		is.Source, was.Source = 0, 0 // which is not stored
		if !reflect.DeepEqual(is, was) {
			other = append(other, is.Line)
		}
	}
	return other
}
