package reporting

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// passage is a written introduction or conclusion.
type passage struct {
	body     string
	removed  []citation.Removal
	repeated []string  // sentences that were taken out: they stood there twice
	local    bool      // frame text of this program, not written
	claims   []claim   // of an answer, which is all there is: what it may cite
	past     *keptPart // it is of the last run's report, word for word; nil: it is not
	told     told
}

// frame writes introduction and conclusion from the finished sections. What one answer lacks is asked for once more. The
// error is the end of ctx and nothing else.
func (w sectionWriter) frame(ctx context.Context, plan reportPlan, sections []section) (opening, conclusion passage, err error) {
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
			opening, openingOK = w.accept(withoutHeadings(first), "", ids)
		}
		if !conclusionOK {
			conclusion, conclusionOK = w.accept(withoutHeadings(second), "", ids)
		}
	}
	if !openingOK {
		w.fellBack("introduction")
		opening = passage{local: true, body: w.texts.Opening.With(prompts.V{"Topic": citation.Escape(w.title), "Claims": len(distinct(cited)), "Documents": documents(cited)})}
	}
	if !conclusionOK {
		w.fellBack("conclusion")
		conclusion = passage{local: true, body: w.texts.Closing.With(prompts.V{"Sections": len(sections), "Citations": len(ids), "Gaps": len(w.gaps)})}
	}
	return opening, conclusion, nil
}

// frameData shows the report to the writer of introduction and conclusion: sections that are halved shrink times, for
// models with a small window.
func (w sectionWriter) frameData(plan reportPlan, sections []section, shrink int) prompts.FrameData {
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

// splitFrame cuts an answer at the line between introduction and conclusion, whatever marks of a heading a model gives
// it. Without such a line all of it is the introduction.
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

// shownSection shows a finished section: of a window too small for all, the first half of its paragraphs, a quarter,
// and so on.
func shownSection(s section, shrink int) prompts.WrittenSection {
	all := paragraphs(s.body)
	shown := max(1, len(all)>>shrink)
	out := prompts.WrittenSection{Title: s.title, Left: max(0, len(all)-shown)}
	var texts []string
	for _, p := range all[:min(len(all), shown)] {
		texts = append(texts, p.text)
	}
	out.Text = strings.Join(texts, "\n\n")
	return out
}

// documents counts the distinct documents and pages behind claims.
func documents(claims []claim) int {
	distinct := map[string]bool{}
	for _, c := range claims {
		distinct[c.document()] = true
	}
	return len(distinct)
}
