package reporting

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/report"
	"nightdesk/prompts"
)

// commission is what one call writes: all parts that are not kept, one section, or opening and conclusion.
type commission struct {
	parts   []int   // 0 is the opening, then the sections, then the conclusion
	ordinal int     // of its calls
	claims  []claim // claims of these parts
	also    []claim // key claims of other sections
	written []part  // finished sections, for opening and conclusion
	shrink  int     // each increment halves the written sections, to fit a small context window
	slice   bool    // only some of the section's claims fit the window; other calls have the rest
}

// all returns the claims that the commission may cite.
func (c commission) all() []claim { return slices.Concat(c.claims, c.also) }

// size returns the approximate size of the commission's prompt in bytes.
func (c commission) size() int {
	sum := sizeOf(c.all())
	for _, s := range c.written {
		sum += len(report.Canonical(s.Blocks))
	}
	return sum
}

// ask asks for the parts of a commission until all are usable, in at most so many tries. After an answer that was cut,
// it asks for the rest. The result has only usable parts. The error is that of the last call.
func (w *writer) ask(ctx context.Context, plan reportPlan, c commission, tries int) (map[int]partText, error) {
	got, err := map[int]partText{}, error(nil)
	for attempt := 0; tries > 0 && len(c.parts) > 0; attempt++ {
		var answer string
		var cut bool
		prompt := prompts.Author(w.run.Options.Language, w.authorData(plan, c))
		answer, cut, err = w.text(ctx, prompt, c.ordinal, attempt)
		if errors.Is(err, llm.ErrContextLength) && len(c.written) > 0 && c.shrink < digestTries-1 {
			c.shrink++
			continue
		}
		if errors.Is(err, llm.ErrPermanent) || ctx.Err() != nil {
			return got, err
		}
		if err != nil {
			tries--
			continue
		}
		usable := w.usable(plan, c, answer, cut)
		if !cut || len(usable) == 0 {
			tries--
		}
		maps.Copy(got, usable)
		c.parts = slices.DeleteFunc(slices.Clone(c.parts), func(i int) bool { _, ok := got[i]; return ok })
	}
	return got, err
}

// usable returns the usable parts of an answer. The last part of an answer that was cut is incomplete, so it counts
// only if it was the only one asked for.
func (w *writer) usable(plan reportPlan, c commission, answer string, cut bool) map[int]partText {
	texts, last := plan.split(answer, c.parts)
	if cut && len(c.parts) > 1 {
		delete(texts, last)
	}
	ids := evidence.Citations(c.all())
	for _, s := range c.written {
		ids = append(ids, report.Cited(s.Blocks)...)
	}
	out := map[int]partText{}
	for i, body := range texts {
		p, ok := w.accept(body, plan.titleOf(i), ids)
		if plan.isFrame(i) {
			p.Blocks = slices.DeleteFunc(p.Blocks, func(b report.Block) bool { return b.Kind == report.KindHeading })
		}
		if ok && len(p.Blocks) > 0 {
			out[i] = p
		}
	}
	return out
}

// split divides an answer into the parts asked for. A heading with the number or the title of a part begins it; text
// before the first heading belongs to the first part. A list of references, which a model invents, is left out. last is
// the part that the answer ends with.
func (p reportPlan) split(answer string, parts []int) (texts map[int]string, last int) {
	texts, last = map[int]string{}, parts[0]
	listed := false // in a list of references
	for _, c := range report.Chunks(answer) {
		i, begins := p.begins(c, parts)
		if _, begun := texts[i]; begins && (!begun || i == parts[0]) {
			last, texts[i], listed = i, c.Body, false
			continue
		}
		if listed = listed || c.Level > 0 && prompts.HeadsSources(report.CleanTitle(c.Heading)); !listed {
			texts[last] += c.Source
		}
	}
	return texts, last
}

// begins returns the part that a chunk of an answer begins.
func (p reportPlan) begins(c report.Chunk, parts []int) (part int, ok bool) {
	if c.Level == 0 || c.Level > 2 {
		return 0, false
	}
	digits := len(c.Heading) - len(strings.TrimLeft(c.Heading, "0123456789"))
	if n, err := strconv.Atoi(c.Heading[:digits]); err == nil && slices.Contains(parts, n-1) {
		return n - 1, true
	}
	if len(parts) == 1 { // its heading is no mark; accept removes it
		return 0, false
	}
	i := slices.IndexFunc(parts, func(i int) bool {
		switch frame := prompts.FrameOf(c.Heading); {
		case i == 0:
			return frame == prompts.Introduction
		case i == p.last():
			return frame == prompts.Conclusion
		}
		return report.SameTitle(c.Heading, p.titleOf(i))
	})
	if i < 0 {
		return 0, false
	}
	return parts[i], true
}

// authorData builds the prompt data of a commission.
func (w *writer) authorData(plan reportPlan, c commission) prompts.AuthorData {
	d := prompts.AuthorData{
		Topic: w.topic, ReportTitle: plan.Title, Form: plan.Form, Remarks: w.remarks, Open: w.open(), Slice: c.slice,
		Disagreements: w.disagreementLines(w.disagreementsOf(plan, c),
			func(i int) string { return "[" + w.claims[i].CitationID + "]" }),
		Computed: claimLines(computed(c.all())),
		Claims:   claimLines(sourced(c.claims)), Also: claimLines(sourced(c.also)),
	}
	for _, s := range c.written {
		d.Written = append(d.Written, shownSection(s, c.shrink))
	}
	for i, s := range plan.sections {
		finished := slices.ContainsFunc(c.written, func(p part) bool { return p.title == s.Title })
		if !slices.Contains(c.parts, i+1) && !finished {
			d.Others = append(d.Others, s.Title)
		}
	}
	for _, i := range c.parts {
		line := prompts.PartLine{Number: i + 1, Title: plan.titleOf(i)}
		switch {
		case i == 0:
			line.Opening, line.Instruction, line.Claims = true, plan.Introduction, evidence.Citations(plan.key)
		case i == plan.last():
			line.Conclusion, line.Instruction = true, plan.Conclusion
		default:
			w.describe(&line, plan, i, c)
		}
		d.Parts = append(d.Parts, line)
	}
	return d
}

// describe sets the fields of a section's line.
func (w *writer) describe(line *prompts.PartLine, plan reportPlan, i int, c commission) {
	s := plan.sections[i-1]
	shown := evidence.Citations(sourced(c.claims))
	of := func(ids []string) []string {
		return evidence.Citations(slices.DeleteFunc(slices.Clone(s.claims), func(k claim) bool {
			return !slices.Contains(ids, k.ID) || !slices.Contains(shown, k.CitationID)
		}))
	}
	line.Instruction, line.Claims = s.Instruction, of(append(slices.Clone(s.ClaimIDs), s.Shared...))
	line.Figures = plan.figuresOf(i-1, shown)
	if !c.slice {
		line.Last = w.lastBody(s.Title)
	}
	for _, sub := range s.Subsections {
		line.Subsections = append(line.Subsections, prompts.SubsectionLine{
			Title: sub.Title, Instruction: sub.Instruction, Claims: of(sub.ClaimIDs)})
	}
}

// shownSection returns a finished section for a prompt. Each increment of shrink halves its blocks.
func shownSection(s part, shrink int) prompts.WrittenSection {
	shown := min(len(s.Blocks), max(1, len(s.Blocks)>>shrink))
	return prompts.WrittenSection{Title: s.title, Left: len(s.Blocks) - shown, Text: report.Canonical(s.Blocks[:shown])}
}

// last returns the number of the conclusion.
func (p reportPlan) last() int { return len(p.sections) + 1 }

// isFrame reports whether a part is the opening or the conclusion.
func (p reportPlan) isFrame(part int) bool { return part == 0 || part == p.last() }

// titleOf returns the title of a part; empty for opening and conclusion.
func (p reportPlan) titleOf(part int) string {
	if p.isFrame(part) {
		return ""
	}
	return p.sections[part-1].Title
}

// titlesOf returns the titles of sections.
func (p reportPlan) titlesOf(parts []int) []string {
	titles := make([]string, len(parts))
	for k, i := range parts {
		titles[k] = p.titleOf(i)
	}
	return titles
}

// disagreementsOf returns the disagreements of a commission's sections. Each belongs to the first section that has a
// claim of either side, and to the slices that have one.
func (w *writer) disagreementsOf(plan reportPlan, c commission) (list []evidence.Contradiction) {
	for _, d := range w.disagreements() {
		side := func(k claim) bool { return slices.Contains(d.A.Claims, k.ID) || slices.Contains(d.B.Claims, k.ID) }
		i := slices.IndexFunc(plan.sections, func(s sectionPlan) bool { return slices.ContainsFunc(s.claims, side) })
		if i >= 0 && slices.Contains(c.parts, i+1) && slices.ContainsFunc(c.claims, side) {
			list = append(list, d)
		}
	}
	return list
}

// without returns the claims that are not among others.
func without(claims, others []claim) []claim {
	known := map[string]bool{}
	for _, c := range others {
		known[c.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return known[c.ID] })
}
