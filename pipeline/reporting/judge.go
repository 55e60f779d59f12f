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

// likely is the number of claims that may support a sentence that its sources do not cover.
const likely = 3

// askJudge asks the model to judge those statements that are not verbatim, in one call if they and their sources fit.
// The only error is the end of ctx.
func (c *checker) askJudge(ctx context.Context, all []*decision) error {
	var open []*decision
	var asked []judging.Sentence
	for _, d := range all {
		switch {
		case d.findings.Quotation.Result == support.Verbatim:
		case d.findings.NoText && len(d.ids) > 0:
			d.judged.Missing = support.NoSource
		case c.m.Model == nil:
			d.judged.Missing = support.NoJudge
		default:
			open, asked = append(open, d), append(asked, c.question(d))
		}
	}
	judge := judging.Judge{Model: c.m.Model, Language: c.m.run.Options.Language, Corpus: c.corpus, About: c.describe,
		Brief: map[string]bool{}}
	for _, t := range c.m.input.Computed {
		judge.Brief[t.Source.ID] = true
	}
	calls := judge.Calls(asked)
	errs := make([]error, len(calls))
	var g errgroup.Group
	g.SetLimit(parallel(c.m.Parallel))
	for n, call := range calls {
		g.Go(func() error {
			sentences := make([]judging.Sentence, len(call))
			for i, at := range call {
				sentences[i] = asked[at]
			}
			answers, err := judge.Ask(ctx, c.m.position("", n, 0), sentences)
			errs[n] = err
			for i, at := range call {
				open[at].answer = answers[i]
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
	for _, d := range open {
		c.cite(d)
	}
	return nil
}

// question returns what the judge is asked about a statement. If its sources lack something, the claims most similar to
// it show where else it may be.
func (c *checker) question(d *decision) judging.Sentence {
	s := judging.Sentence{Text: d.text, Head: d.Head, Sources: c.sourcesOf(d.ids), Findings: d.findings}
	others := likely
	if len(d.ids) > 0 && !d.findings.Has(support.Absent) {
		others = 0
	}
	for _, from := range byLikeness(d.text, c.m.claims) {
		quote := support.Span{Source: from.Source.ID, Start: from.Start, End: from.End}
		switch cited := slices.Contains(d.ids, from.CitationID); {
		case !cited && others == 0:
			continue
		case !cited:
			others--
			s.Others = append(s.Others, quote.Source)
		}
		s.Quotes = append(s.Quotes, quote)
	}
	return s
}

// cite takes over what the judge says about a statement, and corrects the citation: sources that have what the
// statement says are added; if none of those that it cites has any of it, they are replaced.
func (c *checker) cite(d *decision) {
	d.judged = d.answer.Judged
	concluded := d.judged.Judgement == support.JudgedConclusion // it is not confirmed without what it follows from
	said := d.judged.Judgement == support.JudgedSupported || concluded || len(d.ids) == 0
	if ids, kept := c.citationsAt(d); said && !d.linked && len(ids) > 0 {
		d.action = ActionCited
		if !kept && d.judged.Judgement == support.JudgedSupported {
			d.wrong, d.ids = d.ids, nil
		}
		d.ids = append(slices.Clone(d.ids), ids...)
		d.findings = c.corpus.Check(d.text, d.Head, c.sourcesOf(d.ids))
	}
	d.judged = c.corpus.Prove(d.judged, c.sourcesOf(d.ids))
}

// citationsAt returns the citations of the places that decide about a statement, without those that it has. kept
// reports whether some place is in a source that it cites.
func (c *checker) citationsAt(d *decision) (ids []string, kept bool) {
	cited := c.sourcesOf(d.ids)
	for _, place := range d.answer.Places {
		if slices.Contains(cited, place.Source) {
			kept = true
			continue
		}
		best, most := "", -1
		for _, from := range c.m.claims {
			common := min(from.End, place.End) - max(from.Start, place.Start)
			if from.Source.ID == place.Source && (best == "" || common > most) {
				best, most = from.CitationID, common
			}
		}
		if best != "" && !slices.Contains(ids, best) {
			ids = append(ids, best)
		}
	}
	return ids, kept
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

// byLikeness returns claims sorted by similarity to a statement, most similar first.
func byLikeness(words string, claims []claim) []claim {
	alike := map[string]float64{}
	for _, c := range claims {
		alike[c.ID] = text.Similarity(c.Statement(), words)
	}
	more := func(a, b claim) int { return cmp.Compare(alike[b.ID], alike[a.ID]) }
	return slices.SortedStableFunc(slices.Values(claims), more)
}
