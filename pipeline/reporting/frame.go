package reporting

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting/prose"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// frame writes introduction and conclusion from the finished sections. If an answer lacks one of them, it asks again.
// The only error is the end of ctx.
func (w sectionWriter) frame(ctx context.Context, plan reportPlan, sections []part) (
	opening, conclusion part, err error,
) {
	var cited []claim
	for _, s := range sections {
		cited = append(cited, w.citedOf(s)...)
	}
	ids, shrink, openingOK, conclusionOK := citations(cited), 0, false, false
	for attempt := 0; attempt-shrink < attempts && !(openingOK && conclusionOK); attempt++ {
		answer, err := w.text(ctx, prompts.Frame(w.run.Options.Language, w.frameData(plan, sections, shrink)), 0, attempt)
		if ctx.Err() != nil {
			return opening, conclusion, context.Cause(ctx)
		}
		if errors.Is(err, llm.ErrContextLength) && shrink < digestTries-1 {
			shrink++
			continue
		}
		if errors.Is(err, llm.ErrPermanent) {
			break
		}
		if err != nil {
			continue
		}
		first, second := splitFrame(answer)
		if !openingOK {
			opening.partText, openingOK = w.accept(prose.WithoutHeadings(first), "", ids)
		}
		if !conclusionOK {
			conclusion.partText, conclusionOK = w.accept(prose.WithoutHeadings(second), "", ids)
		}
	}
	if !openingOK {
		w.fellBack("introduction")
		opening = localPart("", w.texts.Opening.With(prompts.V{
			"Topic": markup.Escape(w.title), "Claims": len(distinct(cited)), "Documents": w.documents(ids),
		}))
	}
	if !conclusionOK {
		w.fellBack("conclusion")
		conclusion = localPart("", w.texts.Closing.With(prompts.V{
			"Sections": len(sections), "Citations": len(ids), "Gaps": len(w.gaps),
		}))
	}
	return opening, conclusion, nil
}

// frameData builds the prompt data for introduction and conclusion. Each increment of shrink halves the sections, for
// models with a small context window.
func (w sectionWriter) frameData(plan reportPlan, sections []part, shrink int) prompts.FrameData {
	d := prompts.FrameData{
		Topic: w.topic, ReportTitle: plan.title, Introduction: plan.introduction, Conclusion: plan.conclusion,
		Remarks: w.remarks,
	}
	for _, s := range sections {
		d.Sections = append(d.Sections, shownSection(s, shrink))
	}
	for _, g := range w.gaps {
		d.Open = append(d.Open, g.Title+": "+g.Reason)
	}
	d.Open = append(d.Open, w.review.Open...)
	for _, b := range w.blocks {
		if said := text.Line(b.block.Open); said != "" {
			d.Judged = append(d.Judged, prompts.BlockJudgement{Title: b.title, Said: said})
		}
	}
	return d
}

// splitFrame splits an answer at the line between introduction and conclusion, with or without heading marks. Without
// such a line, everything is the introduction.
func splitFrame(answer string) (introduction, conclusion string) {
	at := 0
	for line := range strings.Lines(answer) {
		word := strings.TrimFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
		if strings.EqualFold(word, prompts.FrameBreak) {
			return answer[:at], answer[at+len(line):]
		}
		at += len(line)
	}
	return answer, ""
}

// shownSection returns a finished section for a prompt. Each increment of shrink halves its paragraphs.
func shownSection(s part, shrink int) prompts.WrittenSection {
	all := prose.Paragraphs(s.Body)
	shown := max(1, len(all)>>shrink)
	out := prompts.WrittenSection{Title: s.title, Left: max(0, len(all)-shown)}
	var texts []string
	for _, p := range all[:min(len(all), shown)] {
		texts = append(texts, p.Text)
	}
	out.Text = strings.Join(texts, "\n\n")
	return out
}

// documents counts the distinct documents and pages of citations.
func (m *material) documents(ids []string) int {
	distinct := map[string]bool{}
	for _, id := range ids {
		if t, ok := m.registry.Lookup(id); ok {
			distinct[claim{source: t.Source}.document()] = true
		}
	}
	return len(distinct)
}
