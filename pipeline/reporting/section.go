package reporting

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting/prose"
	"nightdesk/prompts"
)

// attempts is the number of calls for a section before its local form is used. A second answer is often good, a third
// hardly ever.
const attempts = 2

const (
	sectionCuts = 5    // sizes tried, each a third of the last: smaller windows have no room
	partStep    = 1000 // ordinals of a section's parts: section + part x 1000
)

// sectionWriter writes the sections, the introduction and the conclusion of a report.
type sectionWriter struct{ *material }

// sections writes all sections of the plan in parallel.
func (w sectionWriter) sections(ctx context.Context, plan reportPlan) ([]part, error) {
	w.placeDisagreements(plan)
	w.placeFigures(plan)
	written := make([]part, len(plan.sections))
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(parallel(w.Parallel))
	for i, s := range plan.sections {
		if kept, ok := w.keptSection(s); ok {
			written[i] = kept
			continue
		}
		g.Go(func() (err error) {
			w.reached(MomentSection, s.Title)
			written[i], err = w.section(groupCtx, plan, i)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, ended(ctx, err)
	}
	for _, s := range written { // in the order of the report, not of the answers
		if s.Local && !s.empty {
			w.fellBack("section “" + s.title + "”")
		}
	}
	return written, nil
}

func parallel(n int) int {
	if n < 1 {
		return 4
	}
	return n
}

// section writes a section of the plan, in as many parts as the context window requires. The only error is the end of
// ctx.
func (w sectionWriter) section(ctx context.Context, plan reportPlan, index int) (part, error) {
	s := plan.sections[index]
	if len(s.claims) == 0 {
		return w.nothingFor(s.Title), nil
	}
	out := part{title: s.Title, claims: s.claims}
	data := prompts.SectionData{
		Topic: w.topic, ReportTitle: plan.title, Sections: plan.titles(), Title: s.Title, Instruction: s.Instruction,
		Remarks: w.remarks, Last: w.lastBody(s.Title),
	}
	budget := sizeOf(s.claims)
	err := llm.ErrContextLength
	for cut := 0; cut < sectionCuts && errors.Is(err, llm.ErrContextLength); cut++ {
		out.partText, err = w.parts(ctx, data, s, index, cut, inParts(s.claims, budget))
		budget /= 3
	}
	switch {
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case err != nil:
		out.partText = partText{Local: true, Body: w.localSection(s)}
	default:
		out.Body = w.withHeadings(out.Body, s)
	}
	return out, nil
}

// errUnusable means that no answer has text that cites one of the claims.
var errUnusable = errors.New("no usable text")

// parts writes a section in parts, each from its own claims, and joins them.
func (w sectionWriter) parts(
	ctx context.Context, data prompts.SectionData, s sectionPlan, index, cut int, claims [][]claim,
) (whole partText, err error) {
	for i, part := range claims {
		if i > 0 {
			s.disagreements = nil // only the first part gets them
		}
		data.Disagreements = disagreementLines(s.disagreements)
		data.Claims, data.Subsections, data.Figures = claimLines(part, 0), nil, figureLines(part, s.figures)
		for n, sub := range s.Subsections {
			line := prompts.SubsectionLine{Title: sub.Title, Instruction: sub.Instruction, Claims: claimLines(part, n+1)}
			if len(claims) == 1 || len(line.Claims) > 0 {
				data.Subsections = append(data.Subsections, line)
			}
		}
		if len(claims) > 1 {
			data.Part, data.Parts, data.Last = i+1, len(claims), ""
		}
		p, err := w.part(ctx, data, index+i*partStep, cut, withSides(citations(part), s.disagreements))
		if err != nil {
			return partText{}, err
		}
		whole.Body = strings.TrimSpace(whole.Body + "\n\n" + p.Body)
		whole.Removed = append(whole.Removed, p.Removed...)
		whole.Repeated = append(whole.Repeated, p.Repeated...)
	}
	if len(claims) > 1 {
		var repeated []string
		whole.Body, repeated = prose.WithoutLoops(whole.Body)
		whole.Repeated = append(whole.Repeated, repeated...)
	}
	return whole, nil
}

// claimLines lists the distinct claims of a subsection for the prompt; 0: the claims that belong to no subsection.
func claimLines(claims []claim, part int) []prompts.ClaimLine {
	var lines []prompts.ClaimLine
	for _, c := range distinct(claims) {
		if c.part == part {
			lines = append(lines, claimLine(c))
		}
	}
	return lines
}

// part asks for a text that may cite ids.
func (w sectionWriter) part(
	ctx context.Context, data prompts.SectionData, ordinal, cut int, ids []string,
) (p partText, err error) {
	var removed []citation.Removal
	for attempt := range attempts {
		text, err := w.text(ctx, prompts.Section(w.run.Options.Language, data), ordinal, cut*attempts+attempt)
		switch {
		case errors.Is(err, llm.ErrContextLength), errors.Is(err, llm.ErrPermanent), ctx.Err() != nil:
			return p, err
		case err != nil:
			continue
		}
		written, usable := w.accept(text, data.Title, ids)
		removed = append(removed, written.Removed...)
		if usable {
			written.Removed = removed
			return written, nil
		}
	}
	return p, errUnusable
}

// inParts splits claims, in order, into groups of at most budget bytes. A larger claim is a group of its own.
func inParts(claims []claim, budget int) [][]claim {
	parts := [][]claim{nil}
	left := budget
	for _, c := range claims {
		cost := size(claimLine(c))
		if last := len(parts) - 1; cost > left && len(parts[last]) > 0 {
			parts, left = append(parts, nil), budget
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], c)
		left -= cost
	}
	return parts
}

// localSection assembles a section from its claims, for when the model failed.
func (w sectionWriter) localSection(s sectionPlan) string {
	said := map[string]bool{}
	list := func(part int) string {
		var lines []string
		for _, c := range distinct(s.claims) {
			if key := prose.SentenceKey(c.statement()); c.part == part && !said[key] {
				said[key] = true
				lines = append(lines, "- "+markup.Escape(c.statement())+" ["+c.CitationID+"]")
			}
		}
		return strings.Join(lines, "\n")
	}
	var parts []string
	if lines := list(0); lines != "" {
		parts = append(parts, lines)
	}
	for n, p := range s.Subsections {
		if lines := list(n + 1); lines != "" {
			parts = append(parts, "### "+markup.Escape(p.Title), lines)
		}
	}
	return prose.Tidy(strings.Join(parts, "\n\n"))
}

// withHeadings restores missing subsection headings, each before the first paragraph that cites mainly the subsection's
// claims. If the paragraphs of a subsection are not consecutive, or the text has such headings, it returns the text
// unchanged.
func (w sectionWriter) withHeadings(body string, s sectionPlan) string {
	if len(s.Subsections) == 0 {
		return body
	}
	var out []string
	begun, last := map[int]bool{}, 0
	for _, p := range prose.Paragraphs(body) {
		names := func(sub OutlineSubsection) bool { return prose.SameTitle(strings.TrimLeft(p.Text, "# "), sub.Title) }
		if p.Heading && slices.ContainsFunc(s.Subsections, names) {
			return body // the writer set headings
		}
		if part := w.partOf(p.Text, s); part > 0 && part != last {
			if begun[part] {
				return body
			}
			begun[part], last = true, part
			out = append(out, "### "+markup.Escape(s.Subsections[part-1].Title))
		}
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n\n")
}

// partOf returns the subsection that more than half of a paragraph's citations belong to; 0: none.
func (w sectionWriter) partOf(paragraph string, s sectionPlan) int {
	cited := w.citedIn(paragraph)
	for part := len(s.Subsections); part > 0; part-- {
		n := 0
		for _, id := range cited {
			if slices.ContainsFunc(s.claims, func(c claim) bool { return c.CitationID == id && c.part == part }) {
				n++
			}
		}
		if 2*n > len(cited) {
			return part
		}
	}
	return 0
}
