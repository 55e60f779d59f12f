package researching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/researching/recheck"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// decision is the plan of an iteration.
type decision struct {
	thought    string
	sufficient bool
	calls      []recheck.Call
	proposals  []topicqueue.SubTopic
	extractive bool // planned without a model: also open the best pages found
}

// Limits of the block's data in the decide prompt, in bytes of claims and in queries. Together they are about 5,000
// tokens, so that the prompt fits a window of 8,192 tokens. For smaller windows they are halved, and halved again.
const (
	decideClaimBytes = 12_000
	decideQueries    = 100
	decideShrinks    = 3
)

// maxProposals is the maximum number of proposals per answer, because a queue script evaluates each of them.
const maxProposals = 5

// decide judges the evidence and plans the calls of iteration k. It returns no calls if nothing is left to ask.
func (w *work) decide(ctx context.Context, k int) (decision, error) {
	if w.Model == nil {
		return w.decideExtractively(k), nil
	}
	if k == 1 && len(w.block.Queries) > 0 { // there is no evidence to judge, and the queries are planned
		searches := w.searches()
		if calls := w.plannedCalls(k, w.block.Queries, searches[:min(1, len(searches))]); len(calls) > 0 {
			return decision{calls: calls, thought: "Asking what this block was planned for."}, nil
		}
	}
	answer, err := w.askDecide(ctx, k)
	w.feedback = nil // sent; new lines are for the next iteration
	failed := false
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return decision{}, context.Cause(ctx)
	case errors.Is(err, llm.ErrAnswer), errors.Is(err, llm.ErrContextLength),
		errors.Is(err, llm.ErrUnavailable) && w.claims == 0:
		failed = true
		why := topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), maxLine)
		w.fallBack(fmt.Sprintf("decide: %s/%d used queries of the plan instead: %s", w.block.ID, k, why))
	default:
		return decision{}, fmt.Errorf("decide %s/%d: %w", w.block.ID, k, err)
	}
	if w.open = topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(answer.Reasoning)),
		maxThought); answer.IsSufficient {
		w.open = ""
	}
	d := decision{
		thought:    answer.Reasoning,
		sufficient: answer.IsSufficient,
		calls:      w.checkActions(k, answer.Actions),
		proposals:  w.checkProposals(k, answer.NewSubTopics),
		extractive: failed,
	}
	if stops := w.flexible() && d.sufficient && w.claims > 0; len(d.calls) == 0 && !stops {
		d.calls = w.plannedCalls(k, append(slices.Clone(w.block.Queries), w.block.Title), w.searches())
	}
	return d, nil
}

func (w *work) askDecide(ctx context.Context, k int) (answer prompts.DecideAnswer, err error) {
	for shrink := range decideShrinks {
		prompt := prompts.Decide(w.run.Options.Language, w.decideData(k, shrink))
		answer, err = llm.Ask[prompts.DecideAnswer](ctx, w.Model, llm.Request{
			Position: w.position(k, prompt.Name, shrink),
			Role:     llm.Researcher,
			Prompt:   prompt,
		})
		if !errors.Is(err, llm.ErrContextLength) {
			break
		}
	}
	return answer, err
}

func (a *assignment) position(k int, step string, ordinal int) llm.Position {
	p := llm.Position{
		RunID: a.run.ID, Stage: "researching", Block: a.block.ID, Iteration: k, Step: step, Ordinal: ordinal,
	}
	if p.Block == "" { // see Read
		p.Stage = "planning"
	}
	return p
}

// decideData builds the prompt data of a block. Each increment of shrink halves its lists.
func (w *work) decideData(k, shrink int) prompts.DecideData {
	d := prompts.DecideData{
		Topic:         w.asked(),
		BlockID:       w.block.ID,
		Title:         w.block.Title,
		Overview:      w.block.Overview,
		MaxActions:    w.maxActions(),
		Flexible:      w.flexible(),
		Iteration:     k,
		MaxIterations: w.run.Options.MaxIterations,
		MinScore:      w.run.Options.NewTopicMinScore,
		Claims:        w.claimLines(decideClaimBytes >> shrink),
		Queries:       clipPrograms(lastOf(distinct(w.view.Own), decideQueries>>shrink)),
		Feedback:      w.feedback,
	}
	d.Left = w.claims - len(d.Claims)
	if shrink == 0 { // dropped first
		d.Ledger = ledger(w.view, w.block, w.ledgerBytes())
	} else {
		d.Ledger = ledger(w.view, w.block, 0)
	}
	for _, b := range w.view.Blocks {
		d.Blocks = append(d.Blocks, prompts.BlockLine{ID: b.ID, Title: b.Title})
	}
	_, hybrid := w.tools.Lookup(ragHybrid)
	for _, t := range w.tools {
		if hybrid && t.Name() == ragNaive { // rag_hybrid finds everything that it finds
			continue
		}
		d.Tools = append(d.Tools, prompts.ToolLine{Name: t.Name(), Description: t.Description()})
	}
	searches := w.searches()
	for _, q := range w.block.Queries {
		if len(searches) > 0 && !w.issued.has(searches[0], q) {
			d.StarterQueries = append(d.StarterQueries, q)
		}
	}
	return d
}

// clipPrograms shortens programs, which would otherwise be in every prompt.
func clipPrograms(lines []string) []string {
	out := slices.Clone(lines)
	for i, line := range out {
		if strings.HasPrefix(line, runCode+": ") {
			out[i] = topicqueue.Clip(line, maxProgram)
		}
	}
	return out
}

// maxProgram is the maximum length of a program in the list of queries, in bytes.
const maxProgram = 120

// claimLines returns the newest claims that fit into limit bytes, grouped by document. It omits quotes, because
// statements suffice to judge the evidence.
func (p *progress) claimLines(limit int) []prompts.ClaimLine {
	var lines []prompts.ClaimLine
	for _, t := range slices.Backward(p.traces) {
		source, where := topicqueue.Clip(t.Source.Name(), maxLine), topicqueue.Clip(t.Source.Within(), maxLine)
		if label := t.Source.Label(); label != "" {
			source += " (" + label + ")"
		}
		for _, c := range slices.Backward(t.Claims) {
			if limit -= len(c.Text) + len(source) + len(where); limit < 0 {
				slices.Reverse(lines)
				return bySource(lines)
			}
			lines = append(lines, prompts.ClaimLine{CitationID: c.CitationID, Text: c.Text, Source: source, Place: where})
		}
	}
	slices.Reverse(lines)
	return bySource(lines)
}

// bySource groups claims by document, and within it by place, in the order of their first claims, so that each name
// appears once.
func bySource(lines []prompts.ClaimLine) []prompts.ClaimLine {
	sources, places := map[string]int{}, map[[2]string]int{}
	for i, l := range lines {
		if sources[l.Source] == 0 {
			sources[l.Source] = i + 1
		}
		if at := [2]string{l.Source, l.Place}; places[at] == 0 {
			places[at] = i + 1
		}
	}
	slices.SortStableFunc(lines, func(a, b prompts.ClaimLine) int {
		return cmp.Or(sources[a.Source]-sources[b.Source],
			places[[2]string{a.Source, a.Place}]-places[[2]string{b.Source, b.Place}])
	})
	return lines
}

// checkProposals returns the valid proposals of new topics. They have a title and at least the minimum score, and their
// block has made an iteration or found claims.
func (w *work) checkProposals(k int, topics []prompts.NewSubTopic) []topicqueue.SubTopic {
	if k < 2 && w.claims == 0 {
		return nil
	}
	var proposals []topicqueue.SubTopic
	for _, t := range topics {
		title := topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(t.Title)), maxLine)
		// a score above 1 is outside the scale given to the model and means nothing
		if !t.ShouldAdd || title == "" || !(t.Score >= w.run.Options.NewTopicMinScore && t.Score <= 1) {
			continue
		}
		if proposals = append(proposals, topicqueue.SubTopic{
			Title: title, Overview: topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(t.Overview)), maxClaim),
			Parent: w.block.ID,
		}); len(proposals) == maxProposals {
			break
		}
	}
	return proposals
}

// distinct removes repeated queries.
func distinct(queries []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(queries), func(q string) bool {
		again := seen[q]
		seen[q] = true
		return again
	})
}

func lastOf[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
