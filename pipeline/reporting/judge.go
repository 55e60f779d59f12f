package reporting

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/reporting/prose"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// askJudge asks the model to judge the statements that are not verbatim, with several calls in parallel. The only error
// is the end of ctx.
func (c *checker) askJudge(ctx context.Context) error {
	var groups []group
	for i, p := range c.parts {
		frame := i == 0 || i == len(c.parts)-1
		open, paragraph := group{}, -1
		for _, d := range p.decisions {
			d.judged.Missing = c.unjudged(d)
			if d.judged.Missing != "" || d.findings.Quotation.Result == support.Verbatim {
				continue
			}
			if at := strings.Count(p.Body[:d.Start], "\n\n"); frame && at != paragraph {
				groups = append(groups, open)
				open, paragraph = group{}, at
			}
			d.asked = judging.Sentence{
				Text: d.Statement.Text, Head: d.Head, Sources: c.sourcesOf(d.IDs),
				Quotes: quotesFor(d.Statement, p.claims), Findings: d.findings,
			}
			open = append(open, d)
		}
		groups = append(groups, open)
	}
	groups = together(groups)
	answers, errs := make([][]support.Judged, len(groups)), make([]error, len(groups))
	judge := judging.Judge{Model: c.m.Model, Language: c.m.run.Options.Language, Corpus: c.corpus, About: c.describe}
	var g errgroup.Group
	g.SetLimit(parallel(c.m.Parallel))
	for n, of := range groups {
		g.Go(func() error {
			asked := make([]judging.Sentence, len(of))
			for i, d := range of {
				asked[i] = d.asked
			}
			answers[n], errs[n] = judge.Ask(ctx, c.m.position("", n, 0), asked)
			return nil
		})
	}
	_ = g.Wait() // no function returns an error
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for n, answer := range answers {
		if errs[n] != nil {
			c.v.Counts.JudgeFailed++
			c.silent = cmp.Or(c.silent, errs[n])
		}
		for i, j := range answer {
			groups[n][i].judged = j
		}
	}
	return nil
}

// group is the set of statements in one call: those of a section, or of a paragraph of the introduction or conclusion.
type group []*decision

// maxParts is the maximum number of calls per section.
const maxParts = 2

// together splits a section that is too long for one call in two. It then merges groups that fit into one call, those
// with the most common sources first, so that shared sources are sent once.
func together(groups []group) []group {
	var calls []group
	for _, g := range groups {
		n := len(g)
		parts := min(maxParts, (n+judging.MostSentences-1)/judging.MostSentences)
		for i := range parts {
			from, to := i*n/parts, (i+1)*n/parts
			calls = append(calls, g[from:to:to])
		}
	}
	for {
		most, into, from := -1, 0, 0
		for i := range calls {
			for j := i + 1; j < len(calls); j++ {
				fits := len(calls[i])+len(calls[j]) <= judging.MostSentences
				if n := calls[i].shared(calls[j]); fits && n > most {
					most, into, from = n, i, j
				}
			}
		}
		if most < 0 {
			return calls
		}
		calls[into] = append(calls[into], calls[from]...)
		calls = slices.Delete(calls, from, from+1)
	}
}

// shared counts the sources that both groups cite.
func (g group) shared(o group) int {
	cited := map[string]bool{}
	for _, d := range g {
		for _, id := range d.asked.Sources {
			cited[id] = true
		}
	}
	n := 0
	for _, d := range o {
		for _, id := range d.asked.Sources {
			if cited[id] {
				n++
				delete(cited, id)
			}
		}
	}
	return n
}

// unjudged returns why a statement is not sent to the judge, or "".
func (c *checker) unjudged(d *decision) support.Missing {
	switch {
	case d.findings.Quotation.Result == support.Verbatim:
		return ""
	case d.findings.NoText:
		return support.NoSource
	case c.m.Model == nil:
		return support.NoJudge
	}
	return ""
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

// quotesFor returns the positions of the quotes of all claims that a statement cites, most similar first.
func quotesFor(s prose.Statement, claims []claim) (quotes []support.Span) {
	cited := slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return !slices.Contains(s.IDs, c.CitationID) })
	for _, from := range byLikeness(s, cited) {
		quotes = append(quotes, support.Span{Source: from.source.ID, Start: from.Start, End: from.End})
	}
	return quotes
}

// byLikeness returns claims sorted by similarity to a statement, most similar first.
func byLikeness(s prose.Statement, claims []claim) []claim {
	alike := map[string]float64{}
	for _, c := range claims {
		alike[c.ID] = text.Similarity(c.statement(), s.Text)
	}
	more := func(a, b claim) int { return cmp.Compare(alike[b.ID], alike[a.ID]) }
	return slices.SortedStableFunc(slices.Values(claims), more)
}
