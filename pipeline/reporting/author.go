package reporting

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/prompts"
)

// OneCall is the maximum size, in bytes of claims and kept sections, of a report that one call writes. The sections of
// a larger one are written in parallel.
const OneCall = 60_000

// attempts is the number of calls for a part before its local form is used. A second answer is often good, a third
// hardly ever.
const attempts = 2

const (
	maxNode  = 31   // the claims of a section are halved at most five times: smaller windows have no room
	partStep = 1000 // ordinals of a section's slices: part + slice x 1000
)

// body writes all sections of the plan that are not kept from the last report. If one call can write them all, it also
// writes opening and conclusion. The only error is the end of ctx.
func (w *writer) body(ctx context.Context, plan reportPlan) (draft, error) {
	d := draft{sections: make([]part, len(plan.sections))}
	whole := commission{parts: []int{0}}
	for i, s := range plan.sections {
		if kept, ok := w.keptSection(s); ok {
			d.sections[i] = kept
			whole.written = append(whole.written, kept)
		} else if len(s.claims) == 0 {
			d.sections[i] = w.nothingFor(s.Title)
		} else {
			whole.parts, whole.claims = append(whole.parts, i+1), append(whole.claims, without(s.claims, whole.claims)...)
		}
	}
	todo := whole.parts[1:]
	if past := w.keptFrame(d.sections); past != nil {
		d.opening, d.conclusion = past.Opening.kept(), past.Conclusion.kept()
	}
	if len(todo) == 0 {
		return d, nil
	}
	if plan.concludes {
		whole.parts = append(slices.Clone(whole.parts), plan.last())
	}
	whole.also = without(plan.key, whole.claims)
	got, tries := map[int]partText{}, attempts
	if whole.size() <= OneCall {
		w.reached(MomentSection, plan.titlesOf(todo)...)
		var err error
		if got, err = w.ask(ctx, plan, whole, 1); err == nil {
			tries--
		}
	}
	texts, g := make([]partText, len(d.sections)), new(errgroup.Group)
	g.SetLimit(parallel(w.Parallel))
	for _, i := range todo {
		text, ok := got[i]
		texts[i-1] = text
		if ok || ctx.Err() != nil {
			continue
		}
		g.Go(func() error {
			if tries == attempts {
				w.reached(MomentSection, plan.sections[i-1].Title)
			}
			texts[i-1], _ = w.section(ctx, plan, i, tries, 1, plan.sections[i-1].claims)
			return nil
		})
	}
	_ = g.Wait() // no function returns an error
	if ctx.Err() != nil {
		return d, context.Cause(ctx)
	}
	for _, i := range todo { // in the order of the report, not of the answers
		d.sections[i-1] = w.finished(&plan.sections[i-1], texts[i-1])
	}
	d.opening.partText, d.conclusion.partText = got[0], got[plan.last()]
	return d, nil
}

// parallel returns the number of calls at a time for Reporter.Parallel.
func parallel(n int) int {
	return cmp.Or(max(n, 0), 4)
}

// section writes a section. If its claims do not fit the context window, it writes each half of them on its own. node
// is 1 for all claims, and 2n and 2n+1 for the halves of n. Without a usable answer the text is empty.
func (w *writer) section(
	ctx context.Context, plan reportPlan, i, tries, node int, claims []claim,
) (whole partText, err error) {
	c := commission{parts: []int{i}, ordinal: i + 1 + (node-1)*partStep, claims: claims, slice: node > 1}
	if !c.slice {
		c.also = without(plan.key, claims)
	}
	got, err := w.ask(ctx, plan, c, tries)
	if !errors.Is(err, llm.ErrContextLength) || len(claims) < 2 || node > maxNode {
		return got[i], err
	}
	for k, half := range [][]claim{claims[:len(claims)/2], claims[len(claims)/2:]} {
		p, err := w.section(ctx, plan, i, tries, 2*node+k, half)
		if len(p.Blocks) == 0 {
			return partText{}, err
		}
		whole.Blocks = append(whole.Blocks, p.Blocks...)
		whole.Removed, whole.Repeated = append(whole.Removed, p.Removed...), append(whole.Repeated, p.Repeated...)
	}
	blocks, repeated := report.DropRepeated(whole.Blocks, map[string]bool{})
	whole.Blocks, whole.Repeated = blocks, append(whole.Repeated, repeated...)
	return whole, nil
}

// finished returns a section with its text, or with its claims if there is none. The plan gets the claims of other
// sections that the text cites.
func (w *writer) finished(s *sectionPlan, text partText) part {
	if len(text.Blocks) == 0 {
		w.fellBack("section “" + s.Title + "”")
		local := localPart(s.Title, w.localSection(*s))
		local.claims = s.claims
		return local
	}
	cited := report.Cited(text.Blocks)
	for _, c := range without(w.claims, s.claims) {
		if slices.Contains(cited, c.CitationID) {
			s.Shared, s.claims = append(s.Shared, c.ID), append(s.claims, c)
		}
	}
	return part{title: s.Title, claims: s.claims, partText: text}
}

// frame writes opening and conclusion from the finished sections, as far as the draft lacks them. The only error is the
// end of ctx.
func (w *writer) frame(ctx context.Context, plan reportPlan, d *draft) error {
	c := commission{also: plan.key, written: d.sections}
	if len(d.opening.Blocks) == 0 {
		c.parts = append(c.parts, 0)
	}
	if plan.concludes && len(d.conclusion.Blocks) == 0 {
		c.parts = append(c.parts, plan.last())
	}
	if len(c.parts) == 0 {
		return nil
	}
	c.ordinal = c.parts[0] + 1
	got, _ := w.ask(ctx, plan, c, attempts)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var cited []claim
	for _, s := range d.sections {
		cited = append(cited, w.citedOf(s)...)
	}
	ids := evidence.Citations(cited)
	for _, i := range c.parts {
		text, ok := got[i]
		switch {
		case ok && i == 0:
			d.opening.partText = text
		case ok:
			d.conclusion.partText = text
		case i == 0:
			w.fellBack("introduction")
			d.opening = localPart("", w.texts.Opening.With(prompts.V{
				"Topic": markdown.Escape(w.title), "Claims": len(evidence.Distinct(cited)), "Documents": w.documents(ids),
			}))
		default:
			w.fellBack("conclusion")
			d.conclusion = localPart("", w.texts.Closing.With(prompts.V{
				"Sections": len(d.sections), "Citations": len(ids), "Gaps": len(w.gaps),
			}))
		}
	}
	return nil
}

// localSection assembles a section from its claims, for when the model failed.
func (w *writer) localSection(s sectionPlan) string {
	said := map[string]bool{}
	list := func(ids []string) string {
		var lines []string
		for _, c := range evidence.Distinct(s.claims) {
			if key := report.Key(c.Statement()); slices.Contains(ids, c.ID) && !said[key] {
				said[key] = true
				lines = append(lines, "- "+markdown.Escape(c.Statement())+" ["+c.CitationID+"]")
			}
		}
		return strings.Join(lines, "\n")
	}
	var parts []string
	if lines := list(append(slices.Clone(s.ClaimIDs), s.Shared...)); lines != "" {
		parts = append(parts, lines)
	}
	for _, p := range s.Subsections {
		if lines := list(p.ClaimIDs); lines != "" {
			parts = append(parts, "### "+markdown.Escape(p.Title), lines)
		}
	}
	return strings.Join(parts, "\n\n")
}
