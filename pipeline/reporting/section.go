package reporting

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
)

// section is one written section: Markdown with canonical markers, without its own heading.
type section struct {
	title    string
	body     string
	claims   []claim // that it was written from
	removed  []citation.Removal
	repeated []string  // sentences that were taken out because the report says the same before
	local    bool      // put together from the claims, not written
	excerpts []excerpt // that it shows, in a report without a model
	empty    bool      // of a template, and nothing was found for it
	past     *keptPart // it is of the last run's report, word for word; nil: it is not
	told     told
}

// attempts is how often a section is asked for before it takes its local form: a second answer to the same question is
// often good, a third hardly ever.
const attempts = 2

const (
	sectionCuts = 5    // the whole section, then parts of a third of its claims, of a ninth, ...: below that a window has no room
	partStep    = 1000 // ordinals of a section's parts: section + part x 1000
)

// sectionWriter writes the sections of a report, its introduction and its conclusion.
type sectionWriter struct{ *material }

// sections writes all sections of the plan, several at a time.
func (w sectionWriter) sections(ctx context.Context, plan reportPlan) ([]section, error) {
	titles := plan.titles()
	written, placed, figures := make([]section, len(plan.sections)), w.placed(plan), w.plannedFigures(plan)
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(parallel(w.Parallel))
	for i, s := range plan.sections {
		if kept, ok := w.keptSection(s); ok {
			written[i] = kept
			continue
		}
		g.Go(func() (err error) {
			w.reached(MomentSection, s.title)
			written[i], err = w.section(groupCtx, plan.title, titles, i, s, extras{placed[i], figures[i]})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, ended(ctx, err)
	}
	for i, s := range written { // in the order of the report, not in that of the answers
		if s.local && !s.empty {
			w.fellBack("section " + quoteTitle(written[i].title))
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

func quoteTitle(title string) string { return "“" + title + "”" }

// extras are what a section tells of beside its claims.
type extras struct {
	disagreements []evidence.Contradiction
	figures       []figure
}

// section writes one section from its own claims and what else it is to tell of, in as many parts as the model's window
// makes necessary. The error is the end of ctx and nothing else.
func (w sectionWriter) section(
	ctx context.Context, reportTitle string, titles []string, index int, s sectionPlan, with extras,
) (section, error) {
	if len(s.claims) == 0 {
		return w.nothingFor(s.title), nil
	}
	out := section{title: s.title, claims: s.claims}
	data := prompts.SectionData{Topic: w.topic, ReportTitle: reportTitle, Sections: titles, Title: s.title, Instruction: s.instruction,
		Remarks: w.remarks, Last: w.lastBody(s.title)}
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
		out.body, out.removed, out.repeated = w.withHeadings(written.body, s), written.removed, written.repeated
		return out, nil
	}
	out.local, out.body = true, w.localSection(s)
	return out, nil
}

// errUnusable: the answers to a question hold no text that cites one of its claims.
var errUnusable = errors.New("no usable text")

// parts writes a section part by part, each from its own claims, and joins them.
func (w sectionWriter) parts(
	ctx context.Context, data prompts.SectionData, s sectionPlan, index, cut int, claims [][]claim, with extras,
) (passage, error) {
	disagreements, figures := with.disagreements, with.figures
	var whole passage
	for i, part := range claims {
		data.Disagreements = disagreementLines(disagreements)
		ids := withSides(citations(part), disagreements)
		disagreements = nil // the first part tells of them
		data.Claims, data.Subsections, data.Figures = claimLines(part, 0), nil, figureLines(part, figures)
		for n, sub := range s.parts {
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
			return passage{}, err
		}
		whole.body = strings.TrimSpace(whole.body + "\n\n" + p.body)
		whole.removed = append(whole.removed, p.removed...)
		whole.repeated = append(whole.repeated, p.repeated...)
	}
	if len(claims) > 1 {
		var repeated []string
		whole.body, repeated = withoutLoops(whole.body)
		whole.repeated = append(whole.repeated, repeated...)
	}
	return whole, nil
}

// claimLines shows the claims of one subsection to a model, each once that several blocks have found; 0: those that
// stand in none.
func claimLines(claims []claim, part int) []prompts.ClaimLine {
	var lines []prompts.ClaimLine
	for _, c := range distinct(claims) {
		if c.part == part {
			lines = append(lines, claimLine(c))
		}
	}
	return lines
}

// part asks for a text that may cite these ids.
func (w sectionWriter) part(ctx context.Context, data prompts.SectionData, ordinal, cut int, ids []string) (p passage, err error) {
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
		removed = append(removed, written.removed...)
		if usable {
			written.removed = removed
			return written, nil
		}
	}
	return p, errUnusable
}

// inParts cuts claims, in order, into groups of at most budget bytes each.
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

// localSection is a section put together from its claims: what a reader gets where the model failed.
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
	for n, p := range s.parts {
		if lines := list(n + 1); lines != "" {
			parts = append(parts, "### "+citation.Escape(p.Title), lines)
		}
	}
	return tidy(strings.Join(parts, "\n\n"))
}
