package reporting

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// askJudge asks the judge about the statements that are not verbatim, section by section, short ones together and long
// ones in two parts, several calls at a time; those of the introduction and the conclusion go with the first and the
// last section. The error is the end of ctx.
func (c *checker) askJudge(ctx context.Context, parts []part, decisions [][]decision) error {
	open := make([][]*decision, len(parts))
	first, last := 0, 0 // sections that are asked about
	for i := range parts {
		for j := range decisions[i] {
			d := &decisions[i][j]
			d.judged.Missing = c.unjudged(*d)
			if d.judged.Missing == "" && d.findings.Quotation.Result != support.Verbatim {
				open[i] = append(open[i], d)
			}
		}
		if i > 0 && i < len(parts)-1 && len(open[i]) > 0 {
			first, last = cmp.Or(first, i), i
		}
	}
	sections, asked := make([][]*decision, len(parts)), make([][]judging.Sentence, len(parts))
	for i, p := range parts {
		n := i
		switch i {
		case 0:
			n = first
		case len(parts) - 1:
			n = last
		}
		for _, d := range open[i] {
			sections[n] = append(sections[n], d)
			asked[n] = append(asked[n], judging.Sentence{
				Text: d.statement.text, Head: d.head, Sources: c.sourcesOf(d.ids),
				Quotes: quotesFor(d.statement, p.claims), Findings: d.findings,
			})
		}
	}
	sections, asked = together(sections, asked)
	answers, errs := make([][]support.Judged, len(sections)), make([]error, len(sections))
	judge := judging.Judge{Model: c.m.Model, Language: c.m.run.Options.Language, Corpus: c.corpus, About: c.describe}
	var g errgroup.Group
	g.SetLimit(parallel(c.m.Parallel))
	for n := range sections {
		if len(asked[n]) > 0 {
			g.Go(func() error {
				answers[n], errs[n] = judge.Ask(ctx, c.m.position("", n, 0), asked[n])
				return nil
			})
		}
	}
	_ = g.Wait() // none returns an error
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for n, answer := range answers {
		if errs[n] != nil {
			c.v.Counts.JudgeFailed++
			if c.silent == nil {
				c.silent = errs[n]
			}
		}
		for i, j := range answer {
			sections[n][i].judged = j
		}
	}
	return nil
}

// maxParts bounds the calls about one section.
const maxParts = 2

// together puts neighbouring sections into one call as far as they are short, and shares one that is too long for a
// call among two.
func together(sections [][]*decision, asked [][]judging.Sentence) (calls [][]*decision, of [][]judging.Sentence) {
	for n, s := range sections {
		if last := len(calls) - 1; last >= 0 && len(calls[last])+len(s) <= judging.MostSentences {
			calls[last], of[last] = append(calls[last], s...), append(of[last], asked[n]...)
			continue
		}
		parts := min(maxParts, 1+(len(s)-1)/judging.MostSentences)
		for i := range parts {
			from, to := i*len(s)/parts, (i+1)*len(s)/parts
			calls, of = append(calls, s[from:to]), append(of, asked[n][from:to])
		}
	}
	return calls, of
}

// unjudged says why a judge is not asked about a statement, "" when it is.
func (c *checker) unjudged(d decision) support.Missing {
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

// describe names the source of a passage for the judge: what the report says of it may be who published it, and when.
func (c *checker) describe(at support.Span) prompts.Passage {
	s := c.sources[at.Source]
	s.Text = c.corpus.Beginning(at.Source)
	return prompts.Passage{
		Title: s.Title, By: s.By(), Date: s.Date, Head: s.HeadAt(at.Start),
		Place: topicqueue.OneLine(strings.Join(s.Section, " › ")),
	}
}

// quotesFor returns where the quotes of the claims stand that a statement may rest on.
func quotesFor(s statement, claims []claim) []support.Span {
	cited := citedBy(s, claims)
	out := make([]support.Span, len(cited))
	for i, from := range cited {
		out[i] = support.Span{Source: from.source.ID, Start: from.Start, End: from.End}
	}
	return out
}

// citedBy returns the claims that a statement cites, the most alike first.
func citedBy(s statement, claims []claim) []claim {
	var cited []claim
	alike := map[string]float64{}
	for _, from := range claims {
		if slices.Contains(s.ids, from.CitationID) {
			cited = append(cited, from)
			alike[from.ID] = text.Similarity(from.statement(), s.text)
		}
	}
	slices.SortStableFunc(cited, func(a, b claim) int { return cmp.Compare(alike[b.ID], alike[a.ID]) })
	return cited
}
