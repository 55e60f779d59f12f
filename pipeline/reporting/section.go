package reporting

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
)

// section is one written section: Markdown with canonical markers, without its own heading.
type section struct {
	title    string
	body     string
	claims   []claim // that it was written from
	removed  []citation.Removal
	repeated int  // sentences that were taken out because the section said the same before
	left     int  // claims that did not fit
	local    bool // put together from the claims, not written
}

// attempts is how often a section is asked for before it takes its local form: a second answer to the same question is
// often good, a third hardly ever.
const attempts = 2

// sections writes all sections of the outline, several at a time.
func (w *writer) sections(ctx context.Context, outline prompts.OutlineAnswer) ([]section, error) {
	titles := make([]string, len(outline.Sections))
	for i, s := range outline.Sections {
		titles[i] = s.Title
	}
	written := make([]section, len(outline.Sections))
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(parallel(w.Parallel))
	for i, s := range outline.Sections {
		g.Go(func() (err error) {
			written[i], err = w.section(groupCtx, outline.Title, titles, i, s)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, ended(ctx, err)
	}
	for i, s := range written { // in the order of the report, not in that of the answers
		w.stats.ClaimsLeftOut += s.left
		if s.local {
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

// section writes one section from its own claims. The error is the end of ctx and nothing else.
func (w *writer) section(ctx context.Context, reportTitle string, titles []string, index int, o prompts.OutlineSection) (section, error) {
	out := section{title: o.Title}
	subjects := w.subjectsOf(o)
	var all []claim
	for _, s := range subjects {
		all = append(all, s.claims...)
	}
	budget := sectionBytes
	for attempt := range attempts {
		out.claims, out.left = pack(all, budget)
		data := prompts.SectionData{Topic: w.topic, ReportTitle: reportTitle, Sections: titles, Title: o.Title, Instruction: o.Instruction}
		for _, s := range o.Subsections {
			data.Subsections = append(data.Subsections, prompts.SubsectionLine(s))
		}
		for _, c := range out.claims {
			data.Claims = append(data.Claims, claimLine(c))
		}
		text, err := w.text(ctx, prompts.Section(w.run.Options.Language, data), index, attempt)
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if errors.Is(err, llm.ErrContextLength) {
			budget = min(budget, sizeOf(out.claims)) / 3 // the window is smaller than most
			continue
		}
		if errors.Is(err, llm.ErrPermanent) {
			break
		}
		if err != nil {
			continue
		}
		written, usable := w.accept(text, o.Title, citations(out.claims))
		out.removed = append(out.removed, written.removed...)
		if usable {
			out.body, out.repeated = written.body, written.repeated
			return out, nil
		}
	}
	out.claims, out.left, out.local, out.removed = all, 0, true, nil
	out.body = w.words.localSection(subjects)
	return out, nil
}

// accept cleans a written text, takes out what it repeats, for a weak model goes round in circles, and resolves its
// markers among the ids that its writer was given. It is usable when something readable is left that cites at least one
// of them.
func (w *writer) accept(text, title string, ids []string) (p passage, usable bool) {
	body, ok := cleanSection(text, title)
	if !ok {
		return passage{}, false
	}
	body, p.removed = w.registry.Only(ids).Resolve(body)
	p.body, p.repeated = withoutRepeats(tidy(body), new(extractive.Seen))
	cited := w.registry.Render(p.body, citation.Options{}).Cited
	return p, p.body != "" && (len(ids) == 0 || len(cited) > 0)
}

// citedOf returns the claims whose citation the text has.
func (w *writer) citedOf(s section) []claim {
	ids := w.registry.Render(s.body, citation.Options{}).Cited
	var cited []claim
	for _, c := range s.claims {
		if slices.Contains(ids, c.CitationID) {
			cited = append(cited, c)
		}
	}
	return cited
}
