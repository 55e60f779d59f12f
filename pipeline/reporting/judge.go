package reporting

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// askJudge asks the model to judge those statements that are not verbatim, with several calls in parallel. round counts
// from 0. The only error is the end of ctx.
func (c *checker) askJudge(ctx context.Context, all []*decision, round int) error {
	var open []*decision
	var asked []judging.Sentence
	for _, d := range all {
		switch {
		case d.findings.Quotation.Result == support.Verbatim:
		case d.findings.NoText:
			d.judged.Missing = support.NoSource
		case c.m.Model == nil:
			d.judged.Missing = support.NoJudge
		default:
			open = append(open, d)
			asked = append(asked, judging.Sentence{
				Text: d.text, Head: d.Head, Sources: c.sourcesOf(d.ids), Quotes: c.quotesFor(d), Findings: d.findings,
			})
		}
	}
	calls := judging.Calls(asked)
	errs := make([]error, len(calls))
	judge := judging.Judge{Model: c.m.Model, Language: c.m.run.Options.Language, Corpus: c.corpus, About: c.describe}
	var g errgroup.Group
	g.SetLimit(parallel(c.m.Parallel))
	for n, call := range calls {
		g.Go(func() error {
			sentences := make([]judging.Sentence, len(call))
			for i, at := range call {
				sentences[i] = asked[at]
			}
			answers, err := judge.Ask(ctx, c.m.position("", n, round), sentences)
			errs[n] = err
			for i, at := range call {
				open[at].judged = answers[i]
			}
			return nil
		})
	}
	_ = g.Wait() // no function returns an error
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range errs {
		if err != nil {
			c.v.Counts.JudgeFailed++
			c.silent = cmp.Or(c.silent, err)
		}
	}
	return nil
}

// describe returns the metadata of a passage's source for the judge, because a report may mention publisher and date.
func (c *checker) describe(at support.Span) prompts.Passage {
	s := c.sources[at.Source]
	s.Text = c.corpus.Beginning(at.Source)
	return prompts.Passage{
		Title: s.Title, By: s.By(), Date: s.Date, Head: s.HeadAt(at.Start),
		Place: s.Place(),
	}
}

// citedBy returns the claims that a statement cites.
func (c *checker) citedBy(d *decision) []claim {
	other := func(of claim) bool { return !slices.Contains(d.ids, of.CitationID) }
	return slices.DeleteFunc(slices.Clone(c.claims), other)
}

// quotesFor returns the positions of the quotes of all claims that a statement cites, most similar first.
func (c *checker) quotesFor(d *decision) (quotes []support.Span) {
	for _, from := range byLikeness(d.text, c.citedBy(d)) {
		quotes = append(quotes, support.Span{Source: from.Source.ID, Start: from.Start, End: from.End})
	}
	return quotes
}

// byLikeness returns claims sorted by similarity to a statement, most similar first.
func byLikeness(words string, claims []claim) []claim {
	alike := map[string]float64{}
	for _, c := range claims {
		alike[c.ID] = text.Similarity(c.Statement(), words)
	}
	more := func(a, b claim) int { return cmp.Compare(alike[b.ID], alike[a.ID]) }
	return slices.SortedStableFunc(slices.Values(claims), more)
}
