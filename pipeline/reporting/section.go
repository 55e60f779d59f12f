package reporting

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
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
	titles := plan.titles()
	written, placed, figures := make([]part, len(plan.sections)), w.placed(plan), w.plannedFigures(plan)
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(parallel(w.Parallel))
	for i, s := range plan.sections {
		if kept, ok := w.keptSection(s); ok {
			written[i] = kept
			continue
		}
		g.Go(func() (err error) {
			w.reached(MomentSection, s.Title)
			written[i], err = w.section(groupCtx, plan.title, titles, i, s, extras{placed[i], figures[i]})
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

// extras is the content of a section besides its claims.
type extras struct {
	disagreements []evidence.Contradiction
	figures       []figure
}

// section writes one section from its own claims and extras, in as many parts as the context window requires. The only
// error is the end of ctx.
func (w sectionWriter) section(
	ctx context.Context, reportTitle string, titles []string, index int, s sectionPlan, with extras,
) (part, error) {
	if len(s.claims) == 0 {
		return w.nothingFor(s.Title), nil
	}
	out := part{title: s.Title, claims: s.claims}
	data := prompts.SectionData{Topic: w.topic, ReportTitle: reportTitle, Sections: titles, Title: s.Title, Instruction: s.Instruction,
		Remarks: w.remarks, Last: w.lastBody(s.Title)}
	budget := sizeOf(s.claims)
	for cut := range sectionCuts {
		written, err := w.parts(ctx, data, s, index, cut, inParts(s.claims, budget), with)
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if errors.Is(err, llm.ErrContextLength) {
			budget /= 3
			continue
		}
		if err != nil {
			break
		}
		out.partText = written
		out.Body = w.withHeadings(written.Body, s)
		return out, nil
	}
	out.Local, out.Body = true, w.localSection(s)
	return out, nil
}

// errUnusable means that no answer has text that cites one of the claims.
var errUnusable = errors.New("no usable text")

// parts writes a section in parts, each from its own claims, and joins them.
func (w sectionWriter) parts(
	ctx context.Context, data prompts.SectionData, s sectionPlan, index, cut int, claims [][]claim, with extras,
) (partText, error) {
	disagreements, figures := with.disagreements, with.figures
	var whole partText
	for i, part := range claims {
		data.Disagreements = disagreementLines(disagreements)
		ids := withSides(citations(part), disagreements)
		disagreements = nil // only the first part gets them
		data.Claims, data.Subsections, data.Figures = claimLines(part, 0), nil, figureLines(part, figures)
		for n, sub := range s.Subsections {
			line := prompts.SubsectionLine{Title: sub.Title, Instruction: sub.Instruction, Claims: claimLines(part, n+1)}
			if len(claims) == 1 || len(line.Claims) > 0 {
				data.Subsections = append(data.Subsections, line)
			}
		}
		if len(claims) > 1 {
			data.Part, data.Parts, data.Last = i+1, len(claims), ""
		}
		p, err := w.part(ctx, data, index+i*partStep, cut, ids)
		if err != nil {
			return partText{}, err
		}
		whole.Body = strings.TrimSpace(whole.Body + "\n\n" + p.Body)
		whole.Removed = append(whole.Removed, p.Removed...)
		whole.Repeated = append(whole.Repeated, p.Repeated...)
	}
	if len(claims) > 1 {
		var repeated []string
		whole.Body, repeated = withoutLoops(whole.Body)
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
func (w sectionWriter) part(ctx context.Context, data prompts.SectionData, ordinal, cut int, ids []string) (p partText, err error) {
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
			if key := sentenceKey(c.statement()); c.part == part && !said[key] {
				said[key] = true
				lines = append(lines, "- "+citation.Escape(c.statement())+" ["+c.CitationID+"]")
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
			parts = append(parts, "### "+citation.Escape(p.Title), lines)
		}
	}
	return tidy(strings.Join(parts, "\n\n"))
}

// withHeadings restores missing subsection headings, each before the first paragraph that cites mainly the subsection's
// claims. If the paragraphs of a subsection are not consecutive, or the text has such headings, it returns the text
// unchanged.
func (w sectionWriter) withHeadings(body string, s sectionPlan) string {
	if len(s.Subsections) == 0 {
		return body
	}
	all := paragraphs(body)
	var parts []int // subsection of each paragraph
	for _, p := range all {
		if p.heading && headingOf(p.text, s) > 0 {
			return body // the writer set headings
		}
		parts = append(parts, w.partOf(p.text, s))
	}
	first := map[int]int{} // first paragraph of each subsection
	last := 0
	for i, part := range parts {
		if part == 0 || part == last {
			continue
		}
		if _, again := first[part]; again {
			return body
		}
		first[part], last = i, part
	}
	var out []string
	for i, p := range all {
		for part, at := range first {
			if at == i {
				out = append(out, "### "+citation.Escape(s.Subsections[part-1].Title))
			}
		}
		out = append(out, p.text)
	}
	return strings.Join(out, "\n\n")
}

// headingOf returns the subsection that a heading names, counted from 1; 0: none.
func headingOf(line string, s sectionPlan) int {
	title := strings.TrimLeft(line, "# ")
	for i, p := range s.Subsections {
		if sameTitle(title, p.Title) {
			return i + 1
		}
	}
	return 0
}

// partOf returns the subsection that more than half of a paragraph's citations belong to; 0: none.
func (w sectionWriter) partOf(paragraph string, s sectionPlan) int {
	cited := w.citedIn(paragraph)
	count := make([]int, len(s.Subsections)+1)
	for _, id := range cited {
		part := map[int]bool{}
		for _, c := range s.claims {
			if c.CitationID == id {
				part[c.part] = true
			}
		}
		for p := range part {
			count[p]++
		}
	}
	for p := range slices.Backward(count) {
		if p > 0 && 2*count[p] > len(cited) {
			return p
		}
	}
	return 0
}
