package researching

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

// numbers are the numbers of a text, however they are written.
type numbers map[string]bool

func (n numbers) add(values ...float64) {
	for _, v := range values {
		n[strconv.FormatFloat(v, 'g', 10, 64)] = true
	}
}

// numbersOf returns the numbers of a text: as they stand there, with their magnitude and in their base unit, shares
// also as parts of 1.
func numbersOf(s string) numbers {
	n := numbers{}
	for _, q := range quantity.Parse(s) {
		switch q.Kind {
		case quantity.Date, quantity.Label, quantity.Ordinal:
			continue
		case quantity.Percent:
			n.add(q.Low/100, q.High/100)
		}
		n.add(q.Digits, q.Digits*q.Magnitude, q.Low, q.High)
	}
	return n
}

var literal = regexp.MustCompile(`(?:\d[\d_]*)?\.?\d+(?:[eE][+-]?\d+)?`)

// literalsOf returns the numbers of a program, those of its texts too.
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

// programs is what a refresh does with the output of programs that the last run has made.
type programs struct {
	*night
	looks    looks
	edited   map[string]bool // of the visit
	outdated numbers
	formers  []topicqueue.ToolTrace // of what they have printed and does not hold any more, without citation ids
	lines    []string               // that tell the model of it
}

// programsOf returns the programs of a block, of which all texts are aligned.
func programsOf(ctx context.Context, v *visit) (*programs, error) {
	p := &programs{night: v.night, looks: v.looks, edited: v.edited}
	computed := func(t topicqueue.ToolTrace) bool { return t.Source.Kind == topicqueue.SourceCode }
	if !slices.ContainsFunc(v.old.Traces, computed) {
		return p, nil
	}
	var err error
	p.outdated, err = p.find(ctx)
	return p, err
}

// find returns the numbers that claims of the last run, of any block, have quoted from sources that do not have
// them any more, and that no other claim has.
func (p *programs) find(ctx context.Context) (numbers, error) {
	gone, standing := numbers{}, numbers{}
	now := map[string]numbers{} // of the texts of tonight, by page
	for _, b := range p.memory.Blocks {
		for _, t := range b.Traces {
			if t.Source.Kind == topicqueue.SourceCode {
				continue
			}
			key := recurring.PageKey(t.Source)
			if _, known := now[key]; !known {
				body, changed, err := p.tonight(ctx, t.Source)
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

// tonight returns what a source says tonight; changed is false where that is what it said, or not known.
func (p *programs) tonight(ctx context.Context, s topicqueue.Source) (body string, changed bool, err error) {
	if l := p.looks.of(s, p.memory); l != nil {
		return l.text, !l.excerpt && len(l.diff.Changed)+len(l.diff.Withdrawn) > 0, nil
	}
	if !p.edited[s.Document] {
		return "", false, nil
	}
	body, err = p.Documents.Text(ctx, s.Document)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, p.failed(ctx, s.Document, err)
	}
	return body, true, nil
}

// maxShownProgram is how long a program may be that the model is shown again, in bytes.
const maxShownProgram = 4000

// withdraw takes from a trace what its program has computed from numbers that are outdated: all of it, unless each of
// these stands in the line of the output that it is about, and nothing was drawn.
func (p *programs) withdraw(t topicqueue.ToolTrace) topicqueue.ToolTrace {
	inputs := literalsOf(t.Query).and(p.outdated)
	if len(inputs) == 0 {
		return t
	}
	whole := len(t.Source.Figures) > 0 || len(inputs.and(numbersOf(t.Source.Text))) < len(inputs)
	var stale []topicqueue.Claim
	t.Claims = slices.DeleteFunc(slices.Clone(t.Claims), func(c topicqueue.Claim) bool {
		start, end := line(t.Source.Text, c.Start, c.End)
		drop := whole || len(numbersOf(t.Source.Text[start:end]).and(inputs)) > 0
		if drop {
			stale = append(stale, c)
		}
		return drop
	})
	if len(stale) == 0 {
		return t
	}
	t.Dropped += len(stale)
	p.formers = append(p.formers, p.former(t, stale))
	told := fmt.Sprintf("The program %q was computed with numbers that its sources do not state any more (%s). What it "+
		"printed with them is withdrawn. Where the report needs it, run it again with tonight's numbers.",
		strings.TrimPrefix(t.Source.Title, "Program output: "), strings.Join(slices.Sorted(maps.Keys(inputs)), ", "))
	if program, err := json.Marshal(t.Query); err == nil && len(program) <= maxShownProgram {
		told += " It was, as a JSON string: " + string(program)
	}
	p.lines = append(p.lines, told)
	return t
}

// line returns the whole lines around a part of a text.
func line(s string, start, end int) (from, to int) {
	from = strings.LastIndexByte(s[:start], '\n') + 1
	if to = strings.IndexByte(s[end:], '\n'); to < 0 {
		return from, len(s)
	}
	return from, end + to
}

// former makes the trace of what a program has printed and does not hold any more.
func (p *programs) former(t topicqueue.ToolTrace, stale []topicqueue.Claim) topicqueue.ToolTrace {
	t.Iteration, t.Claims, t.Withdrawn = 1, []topicqueue.Claim{}, slices.Clone(stale)
	t.Dropped, t.Source.Figures = 0, nil
	t.Source.AsOf = &topicqueue.AsOf{RunID: p.memory.RunID, Date: p.memory.Since(p.span.Now)}
	return t
}

// lastAnew is the last iteration in which a program may be run again: one to find tonight's numbers, one to compute.
const lastAnew = 3

// computeAnew does up to two more iterations of a block, as research does, when output of its programs was withdrawn,
// until the model has run one again.
func (w *work) computeAnew(ctx context.Context, q Queue) error {
	withdrawn := func(t topicqueue.ToolTrace) bool {
		return t.Source.Kind == topicqueue.SourceCode && len(t.Withdrawn) > 0
	}
	_, runs := w.tools.Lookup(runCode)
	if !runs || w.Model == nil || w.block.Iterations != 1 || !slices.ContainsFunc(w.traces, withdrawn) {
		return nil
	}
	before, wanted := w.programs(), true
	w.run.Options.MaxIterations = lastAnew
	for k := 2; k <= lastAnew && wanted; k++ {
		if w.May != nil {
			if may, err := w.May(ctx, k); err != nil || !may {
				return err
			}
		}
		goOn, err := w.iterate(ctx, q, k)
		if err != nil {
			return err
		}
		wanted = goOn && w.programs() == before
	}
	return nil
}

// programs counts the programs whose output the block has.
func (w *work) programs() (n int) {
	for _, t := range w.traces {
		if t.Source.Kind == topicqueue.SourceCode {
			n++
		}
	}
	return n
}
