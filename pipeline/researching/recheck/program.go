package recheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/recurring"
	"nightdesk/topicqueue"
)

// numbers is a set of numbers, independent of their notation.
type numbers map[string]bool

func (n numbers) add(values ...float64) {
	for _, v := range values {
		n[strconv.FormatFloat(v, 'g', 10, 64)] = true
	}
}

// numbersOf returns the numbers of a text: as written, with magnitude, and in the base unit. Percentages are also
// included as fractions.
func numbersOf(s string) numbers {
	n := numbers{}
	for _, q := range quantity.Parse(s) {
		switch q.Kind {
		case quantity.Date, quantity.Label:
			continue
		case quantity.Percent:
			n.add(q.Low / 100)
		}
		n.add(q.Digits, q.Digits*q.Magnitude, q.Low)
	}
	return n
}

var literal = regexp.MustCompile(`(?:\d[\d_]*)?\.?\d+(?:[eE][+-]?\d+)?`)

// literalsOf returns the numbers in a program, including those in its strings.
func literalsOf(program string) numbers {
	n := numbersOf(program)
	for _, word := range literal.FindAllString(program, -1) {
		if v, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64); err == nil {
			n.add(v)
		}
	}
	return n
}

func (n numbers) and(o numbers) numbers {
	both := maps.Clone(n)
	maps.DeleteFunc(both, func(v string, _ bool) bool { return !o[v] })
	return both
}

// outdatedNumbers returns the numbers quoted in claims of any block whose sources no longer have them, and in no other
// claim. A block without program output needs none.
func (o *Outcome) outdatedNumbers(ctx context.Context) (numbers, error) {
	computed := func(t topicqueue.ToolTrace) bool { return t.Source.Kind == topicqueue.SourceCode }
	if !slices.ContainsFunc(o.Old.Traces, computed) {
		return nil, nil
	}
	gone, standing := numbers{}, numbers{}
	now := map[string]numbers{} // numbers of the current texts, by page
	for _, b := range o.Memory.Blocks {
		for _, t := range b.Traces {
			if t.Source.Kind == topicqueue.SourceCode {
				continue
			}
			key := recurring.PageKey(t.Source)
			if _, known := now[key]; !known {
				body, changed, err := o.tonight(ctx, t.Source)
				if err != nil {
					return nil, err
				}
				if now[key] = nil; changed {
					now[key] = numbersOf(body)
				}
			}
			for _, c := range t.Claims {
				for v := range numbersOf(c.Quote) {
					if stands := now[key] == nil || now[key][v]; stands {
						standing[v] = true
					} else {
						gone[v] = true
					}
				}
			}
		}
	}
	maps.DeleteFunc(gone, func(v string, _ bool) bool { return standing[v] })
	return gone, nil
}

// tonight returns the current text of a source. changed is false if it is unchanged or unknown.
func (o *Outcome) tonight(ctx context.Context, s topicqueue.Source) (body string, changed bool, err error) {
	if l := o.looks.of(s, o.Memory); l != nil {
		return l.text, !l.excerpt && len(l.diff.Changed)+len(l.diff.Withdrawn) > 0, nil
	}
	if !o.edited[s.Document] {
		return "", false, nil
	}
	body, err = o.Documents.Text(ctx, s.Document)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, o.failed(ctx, s.Document, err)
	}
	return body, true, nil
}

// maxShownProgram is the maximum length of a program that is shown to the model again, in bytes.
const maxShownProgram = 4000

// withdraw removes the claims of a program's output that used outdated numbers.
func (o *Outcome) withdraw(t topicqueue.ToolTrace) topicqueue.ToolTrace {
	inputs := literalsOf(t.Query).and(o.outdated)
	if len(inputs) == 0 || len(t.Claims) == 0 {
		return t
	}
	former := t
	former.Iteration, former.Claims, former.Withdrawn = 1, []topicqueue.Claim{}, slices.Clone(t.Claims)
	former.Dropped, former.Source.Figures = 0, nil
	former.Source.AsOf = &topicqueue.AsOf{RunID: o.Memory.RunID, Date: o.Memory.Since(o.Span.Now)}
	o.Formers = append(o.Formers, former)
	told := fmt.Sprintf("The program %q was computed with numbers that its sources do not state any more (%s). What it "+
		"printed is withdrawn. Where the report needs it, run it again with tonight's numbers.",
		strings.TrimPrefix(t.Source.Title, "Program output: "), strings.Join(slices.Sorted(maps.Keys(inputs)), ", "))
	if program, err := json.Marshal(t.Query); err == nil && len(program) <= maxShownProgram {
		told += " It was, as a JSON string: " + string(program)
	}
	o.Lines = append(o.Lines, told)
	t.Dropped, t.Claims = t.Dropped+len(t.Claims), nil
	return t
}
