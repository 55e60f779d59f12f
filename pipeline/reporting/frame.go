package reporting

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/llm"
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

// frame writes introduction and conclusion from the finished sections. The error is the end of ctx and nothing else.
func (w *writer) frame(ctx context.Context, plan reportPlan, sections []section) (opening, conclusion passage, err error) {
	var cited []claim
	for _, s := range sections {
		cited = append(cited, w.citedOf(s)...)
	}
	language := w.run.Options.Language
	data := func(instruction string, shrink int) prompts.FrameData {
		d := prompts.FrameData{Topic: w.topic, ReportTitle: plan.title, Instruction: instruction}
		for _, s := range sections {
			d.Sections = append(d.Sections, shownSection(s, shrink))
		}
		for _, g := range w.gaps {
			d.Open = append(d.Open, g.Title+": "+g.Reason)
		}
		d.Open = append(d.Open, w.review.Open...)
		return d
	}
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(parallel(w.Parallel))
	var openingOK, conclusionOK bool
	g.Go(func() (err error) {
		opening, openingOK, err = w.passage(groupCtx, cited, func(shrink int) prompts.Prompt {
			return prompts.Introduction(language, data(plan.introduction, shrink))
		})
		return err
	})
	g.Go(func() (err error) {
		conclusion, conclusionOK, err = w.passage(groupCtx, cited, func(shrink int) prompts.Prompt {
			return prompts.Conclusion(language, data(plan.conclusion, shrink))
		})
		return err
	})
	if err := g.Wait(); err != nil {
		return opening, conclusion, ended(ctx, err)
	}
	if !openingOK {
		w.fellBack("introduction")
		opening = passage{local: true, body: w.texts.Opening.With(prompts.V{"Topic": citation.Escape(w.title), "Claims": len(cited), "Documents": documents(cited)})}
	}
	if !conclusionOK {
		w.fellBack("conclusion")
		conclusion = passage{local: true, body: w.texts.Closing.With(prompts.V{"Sections": len(sections), "Citations": len(citations(cited)), "Gaps": len(w.gaps)})}
	}
	return opening, conclusion, nil
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

// passage asks for one text of the frame; false means that no answer was usable. prompt makes the question of sections
// that are halved shrink times, for models with a small window.
func (w *writer) passage(ctx context.Context, cited []claim, prompt func(shrink int) prompts.Prompt) (passage, bool, error) {
	shrink := 0
	for attempt := 0; attempt-shrink < attempts; attempt++ {
		text, err := w.text(ctx, prompt(shrink), 0, attempt)
		if ctx.Err() != nil {
			return passage{}, false, context.Cause(ctx)
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
		if p, usable := w.accept(withoutHeadings(text), "", citations(cited)); usable {
			return p, true, nil
		}
	}
	return passage{}, false, nil
}

// documents counts the distinct documents and pages behind claims.
func documents(claims []claim) int {
	distinct := map[string]bool{}
	for _, c := range claims {
		distinct[c.document()] = true
	}
	return len(distinct)
}
