package reporting

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// linkedMarker matches a marker with the space before it, which may include a line break but no blank line.
var linkedMarker = regexp.MustCompile(`(?:[ \t]*\n)?[ \t]*\[\[([^\[\]]{1,40})\]\(#ref-([a-z0-9-]+)\)\]`)

// PlainSentences returns Markdown without linked markers and with white space folded. Each delivered sentence of a
// verification is part of the PlainSentences of its report.
func PlainSentences(markdown string) string {
	return text.Line(linkedMarker.ReplaceAllString(markdown, ""))
}

// Difference lists the differences between a report and its recorded check.
type Difference struct {
	// Absent lists sentences that are missing, too rare, or cited with other sources.
	Absent []string `json:"absent,omitempty"`
	// Unchecked lists markers, with their context, that belong to no sentence or whose target differs from their label.
	Unchecked []string `json:"unchecked,omitempty"`
	// References lists entries that differ from the checked ones or have other sources.
	References []string `json:"references,omitempty"`
}

// deliver records which parts of the delivered report the check did not cover. A sentence may not be found again in a
// model's unusual Markdown. Because this is recorded here, Compare does not report it later.
func (v *Verification) deliver(report string, registry *citation.Registry, changes *recurring.Changes) {
	defer func() {
		if p := recover(); p != nil { // a defect of the check must not lose the report
			v.Status, v.Reason = verification.StatusUnverified, fmt.Sprintf("the report could not be compared with "+
				"its check: %v", p)
		}
	}()
	if v.Verified() {
		v.Outside = v.Compare(report, registry, changes)
	}
}

// minus returns the multiset difference of two lists.
func minus(list, other []string) []string {
	left := map[string]int{}
	for _, text := range other {
		left[text]++
	}
	return slices.DeleteFunc(list, func(text string) bool {
		left[text]--
		return left[text] >= 0
	})
}

// Compare returns the differences between a report and the checked one, without the parts that deliver recorded as not
// covered. registry: that of the run; changes: the changes at the start of the report, or nil.
func (v *Verification) Compare(report string, registry *citation.Registry, changes *recurring.Changes) (d Difference) {
	again := verification.Verify(registry, report, verification.Options{})
	d.References = v.otherReferences(again)
	if v.Tail != "" && len(d.References) == 0 && tailOf(report) != v.Tail {
		d.References = append(d.References, "the list of references or the note below it is another one")
	}
	t := newCitedText(report, registry, again.Valid)
	d.Absent = t.takeAll(append(toldChanges(changes), v.Sentences...))
	known := map[string]int{}
	for _, u := range v.Outside.Unchecked {
		known[u]++
	}
	for _, m := range t.markers {
		around := t.around(m)
		// older verifications recorded this form
		before := strings.ToValidUTF8(t.text[max(0, m.at-aroundBytes):m.at], "") + " [" + m.label + "]"
		switch {
		case m.checked:
		case known[around] > 0:
			known[around]--
		case known[before] > 0:
			known[before]--
		default:
			d.Unchecked = append(d.Unchecked, around)
		}
	}
	d.Absent = minus(d.Absent, v.Outside.Absent)
	d.References = minus(d.References, v.Outside.References)
	return d
}

// tailOf returns the hex SHA-256 of the end of a report, after its sections: references and note.
func tailOf(report string) string {
	return topicqueue.TextHash(report[max(0, strings.LastIndex(report, "\n## ")):])
}

// toldChanges returns the lines of the changes section. They are not judged, because they quote the sources.
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
		if ch.What != "" {
			told = append(told, CheckedSentence{Text: movedRow(ch), Citations: ch.New.Citations},
				CheckedSentence{Text: markup.Escape(ch.Old.Value), Citations: ch.Old.Citations})
			continue
		}
		tell(ch.New)
		tell(ch.Old)
	}
	for _, w := range c.Withdrawn {
		tell(w.Said)
	}
	return told
}

// otherReferences returns the entries of the references that differ from the checked ones.
func (v *Verification) otherReferences(again verification.Result) (other []string) {
	for _, r := range again.Removed {
		other = append(other, r.Line)
	}
	for i := range max(len(again.Valid), len(v.Valid)) {
		var is, was verification.Valid
		if i < len(again.Valid) {
			is = again.Valid[i]
		}
		if i < len(v.Valid) {
			was = v.Valid[i]
		}
		is.Source, was.Source = 0, 0 // Source is not stored
		if !reflect.DeepEqual(is, was) {
			other = append(other, is.Line)
		}
	}
	return other
}
