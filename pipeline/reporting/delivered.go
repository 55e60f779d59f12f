package reporting

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// linkedMarker is a marker with the space before it, which may be a line's end and no paragraph's.
var linkedMarker = regexp.MustCompile(`(?:[ \t]*\n)?[ \t]*\[\[([^\[\]]{1,40})\]\(#ref-([a-z0-9-]+)\)\]`)

// PlainSentences returns a report, or a sentence of it, without linked markers and with white space folded: each
// delivered sentence of a verification is part of that of its report.
func PlainSentences(markdown string) string {
	return text.Line(linkedMarker.ReplaceAllString(markdown, ""))
}

// Difference is where a report is not the one that was checked.
type Difference struct {
	// sentences that do not stand there, as often as they should and with their sources
	Absent []string `json:"absent,omitempty"`
	// the ends of passages with a marker that belongs to no sentence, or leads elsewhere than it says
	Unchecked []string `json:"unchecked,omitempty"`
	// entries that are not those that were checked, or lead to other sources
	References []string `json:"references,omitempty"`
}

// deliver records which parts of the delivered report the check did not cover. A model's Markdown may be so odd that a
// sentence is not found again; recorded now, that is no difference later.
func (v *Verification) deliver(report string, registry *citation.Registry, changes *recurring.Changes) {
	defer func() {
		if p := recover(); p != nil { // a report is never lost to its check
			v.Status, v.Reason = citation.StatusUnverified, fmt.Sprintf("the report could not be compared with "+
				"its check: %v", p)
		}
	}()
	if v.Status == citation.StatusVerified {
		v.Outside = v.Compare(report, registry, changes)
	}
}

// minus returns the texts of a list that another one does not have, each as often as it has more of them.
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

// Compare returns where a report differs from the one that was checked. What the check did not cover then is left
// out, see deliver. registry: of its run; changes: what the report opens with, nil: it opens with none.
func (v *Verification) Compare(report string, registry *citation.Registry, changes *recurring.Changes) (d Difference) {
	again := registry.Verify(report, citation.VerifyOptions{})
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
		// as it was recorded once
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

// tailOf returns the SHA-256, in hex, of what follows the sections of a report: its references and the note.
func tailOf(report string) string {
	return topicqueue.TextHash(report[max(0, strings.LastIndex(report, "\n## ")):])
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
		if ch.What != "" {
			told = append(told, CheckedSentence{Text: movedRow(ch), Citations: ch.New.Citations},
				CheckedSentence{Text: citation.Escape(ch.Old.Value), Citations: ch.Old.Citations})
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
