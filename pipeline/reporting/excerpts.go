package reporting

import (
	"cmp"
	"context"
	"slices"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/reporting/quoted"
	"nightdesk/topicqueue"
)

// Constants of a report without a model.
const (
	// enoughShare is the minimum share of the best passage's score for a passage to be shown, as in the search of a
	// block (package researching).
	enoughShare = 0.6
	// defaultWords is the report length of older runs whose preset is not in olderWords.
	defaultWords = 900
)

// olderWords is the report length by preset for runs from before Options.QuotedWords, so that writing such a report
// again has the same result. A new preset needs no entry.
var olderWords = map[string]int{"shallow": 300, "quick": 300, "deep": 1800, "auto": 1800}

// quoted assembles the report from excerpts, without a model. The best excerpt comes first, then the others by
// document.
func (w *writer) quoted(ctx context.Context) (Report, error) {
	d := draft{extractive: true}
	outline := Outline{Title: w.title}
	left := w.stats.Claims
	add := func(title string, body []report.Block, of []quoted.Excerpt) {
		left -= len(claimsOfExcerpts(of))
		d.sections = append(d.sections, part{title: title, partText: partText{Blocks: body},
			claims: claimsOfExcerpts(of), excerpts: of})
		outline.Sections = append(outline.Sections, sectionOf(title, claimsOfExcerpts(of)))
	}
	if w.template != nil {
		filled, err := w.planned(ctx)
		if err != nil {
			return Report{}, err
		}
		outline.Title, outline.Introduction, outline.Conclusion = filled.Title, filled.Introduction, filled.Conclusion
		for _, s := range filled.sections {
			if len(s.claims) == 0 {
				d.sections = append(d.sections, w.nothingFor(s.Title))
				outline.Sections = append(outline.Sections, sectionOf(s.Title, nil))
				continue
			}
			best := quoted.Choose(quoted.Excerpts(w.run.Topic, s.claims), w.quotedWords()/len(filled.sections))
			add(s.Title, quoted.Bodies(best, ""), best)
		}
	} else {
		weak := func(e quoted.Excerpt) bool { return e.Relevance < quoted.Further*enoughShare }
		best := quoted.Choose(slices.DeleteFunc(quoted.Excerpts(w.run.Topic, w.claims), weak), w.quotedWords())
		best, others := quoted.OfSection(best)
		add(w.texts.BestMatch.String(), quoted.Bodies(best, ""), best)
		for _, of := range quoted.ByDocument(others) {
			title := quoted.DocumentTitle(of[0].Claims[0])
			add(title, quoted.Bodies(of, title), of)
		}
	}
	w.stats.ClaimsLeftOut = left
	if s, ids := w.disagreementSection(nil); len(ids) > 0 {
		d.sections = append(d.sections, s)
	}
	d.opening = localPart("", w.texts.Quoted.String())
	w.reached(MomentOutlined, outline.titles()...)
	for _, s := range d.sections {
		w.reached(MomentSection, s.title)
	}
	return w.finish(ctx, outline, d)
}

func claimsOfExcerpts(excerpts []quoted.Excerpt) []claim {
	var claims []claim
	for _, e := range excerpts {
		claims = append(claims, e.Claims...)
	}
	return claims
}

// quotedWords returns the approximate number of quoted words of the report.
func (w *writer) quotedWords() int {
	return cmp.Or(w.run.Options.QuotedWords, olderWords[w.run.Options.Preset], defaultWords)
}

// checkQuoted records the excerpts of a report without a model as verbatim quotations with their positions.
func (w *writer) checkQuoted(d draft) *checking.Verification {
	v := checking.NewVerification()
	for _, s := range d.sections {
		for _, e := range s.excerpts {
			first, last := e.Claims[0], e.Claims[len(e.Claims)-1]
			checked := checking.Sentence{
				Text: e.Body, Section: s.title, Citations: []string{first.CitationID}, Verdict: support.Supported,
				Source: first.Source.ID, Start: first.Start, End: last.End, Action: checking.ActionKept, Quote: true,
			}
			if first.Source.Hash != "" {
				checked.Page = topicqueue.PagePath(first.Source.Hash)
			}
			v.Sentences = append(v.Sentences, checked)
		}
	}
	v.Count()
	return v
}
