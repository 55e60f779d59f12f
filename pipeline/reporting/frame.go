package reporting

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
)

// passage is a written introduction or conclusion.
type passage struct {
	body    string
	removed []citation.Removal
	local   bool // frame text of this program, not written
}

// frame writes introduction and conclusion from what the sections cite. The error is the end of ctx and nothing else.
func (w *writer) frame(ctx context.Context, outline prompts.OutlineAnswer, sections []section) (opening, conclusion passage, err error) {
	var digest []prompts.SectionDigest
	var cited []claim
	for _, s := range sections {
		claims := w.citedOf(s)
		cited = append(cited, claims...)
		digest = append(digest, prompts.SectionDigest{Title: s.title, Claims: statements(claims, frameDigestBytes/len(sections))})
	}
	data := prompts.FrameData{Topic: w.topic, ReportTitle: outline.Title, Sections: digest}
	language := w.run.Options.Language
	introduction, closing := data, data
	introduction.Instruction, closing.Instruction = outline.Introduction, outline.Conclusion
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(parallel(w.Parallel))
	var openingOK, conclusionOK bool
	g.Go(func() (err error) {
		opening, openingOK, err = w.passage(groupCtx, prompts.Introduction(language, introduction), cited)
		return err
	})
	g.Go(func() (err error) {
		conclusion, conclusionOK, err = w.passage(groupCtx, prompts.Conclusion(language, closing), cited)
		return err
	})
	if err := g.Wait(); err != nil {
		return opening, conclusion, ended(ctx, err)
	}
	if !openingOK {
		w.fellBack("introduction")
		opening = passage{local: true, body: w.words.opening(citation.Escape(w.title), len(cited), documents(cited))}
	}
	if !conclusionOK {
		w.fellBack("conclusion")
		conclusion = passage{local: true, body: w.words.closing(len(sections), len(citations(cited)), len(w.gaps))}
	}
	return opening, conclusion, nil
}

// passage asks for one text of the frame; false means that no answer was usable.
func (w *writer) passage(ctx context.Context, p prompts.Prompt, cited []claim) (passage, bool, error) {
	for attempt := range attempts {
		text, err := w.text(ctx, p, 0, attempt)
		if ctx.Err() != nil {
			return passage{}, false, context.Cause(ctx)
		}
		if errors.Is(err, llm.ErrPermanent) {
			break
		}
		if err != nil {
			continue
		}
		if body, removed, usable := w.accept(withoutHeadings(text), "", citations(cited)); usable {
			return passage{body: body, removed: removed}, true, nil
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
