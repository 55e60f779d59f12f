package researching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// decision is what an iteration is going to do.
type decision struct {
	thought    string
	sufficient bool
	calls      []call
	proposals  []topicqueue.SubTopic
	extractive bool // no model has planned the calls: the best pages that they find are opened with them
}

// What decide shows of a long block, in bytes of claims and in queries: about 5,000 tokens together, so that the
// question fits a window of 8,192 tokens. A window that is smaller still gets half of it, and half of that.
const (
	decideClaimBytes = 12_000
	decideQueries    = 100
	otherQueryBytes  = 300 // of what other blocks have asked: what is asked again is answered by what they got
	decideShrinks    = 3
)

// maxProposals bounds what one answer can put before the queue, which judges each of them in a script.
const maxProposals = 5

// decide judges what the block has and plans the calls of iteration k. It returns no calls when nothing is left to ask.
func (w *work) decide(ctx context.Context, k int) (decision, error) {
	if w.Model == nil {
		return w.decideExtractively(k), nil
	}
	if k == 1 && len(w.block.Queries) > 0 { // there is nothing to judge yet, and what to ask is planned
		searches := w.searches()
		if calls := w.plannedCalls(k, w.block.Queries, searches[:min(1, len(searches))]); len(calls) > 0 {
			return decision{calls: calls, thought: "Asking what this block was planned for."}, nil
		}
	}
	answer, err := w.askDecide(ctx, k)
	w.feedback = nil // shown; what follows is for the next iteration
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
	return llm.Position{
		RunID: a.run.ID, Stage: "researching", Block: a.block.ID, Iteration: k, Step: step, Ordinal: ordinal,
	}
}

// decideData is the block as the model sees it. shrink counts how often its lists were too long: each time, half.
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
		Phase:         w.phase(k),
		MinScore:      w.run.Options.NewTopicMinScore,
		Claims:        w.claimLines(decideClaimBytes >> shrink),
		Queries:       clipPrograms(lastOf(distinct(w.view.Own), decideQueries>>shrink)),
		Feedback:      w.feedback,
		Parent:        w.block.Parent,
	}
	d.Left = w.claims - len(d.Claims)
	d.ParentClaims, d.ParentRead = parent(w.view, w.block, parentBytes>>shrink, parentSources>>shrink)
	fromOthers, asked := w.ledgerBytes(), otherQueryBytes
	if shrink > 0 { // the first to go
		fromOthers, asked = 0, 0
	}
	d.Ledger = ledger(w.view, w.block, fromOthers)
	d.Others, d.OthersLeft = otherQueries(w.view, w.block, asked)
	for _, b := range w.view.Blocks {
		d.Blocks = append(d.Blocks, prompts.BlockLine{ID: b.ID, Title: b.Title})
	}
	_, hybrid := w.tools.Lookup(ragHybrid)
	for _, t := range w.tools {
		if hybrid && t.Name() == ragNaive { // it finds nothing that rag_hybrid does not
			continue
		}
		d.Tools = append(d.Tools, prompts.ToolLine{Name: t.Name(), Description: t.Description()})
	}
	for _, q := range w.block.Queries {
		if tool, ok := searchTool(w.tools); ok && !w.issued.has(tool, q) {
			d.StarterQueries = append(d.StarterQueries, q)
		}
	}
	return d
}

// otherQueries returns what other blocks have asked, as far as it fits: what is most like this block's title, of equals
// the newest, in the order in which it was asked. left counts the rest.
func otherQueries(v topicqueue.View, b topicqueue.Block, limit int) (shown []string, left int) {
	own := issued{}
	own.addLines(v.Own)
	others := slices.DeleteFunc(distinct(v.Queries), func(line string) bool { return own.hasLine(line) })
	others = clipPrograms(others)
	order := make([]int, len(others))
	alike := make([]float64, len(others))
	for i, line := range others {
		order[len(others)-1-i], alike[i] = i, text.Similarity(line, b.Title)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(alike[j], alike[i]) })
	for n, i := range order {
		if limit -= len(others[i]); limit < 0 {
			order = order[:n]
			break
		}
	}
	slices.Sort(order)
	for _, i := range order {
		shown = append(shown, others[i])
	}
	return shown, len(others) - len(shown)
}

// clipPrograms shows of a program how it begins: whole ones stood in every question.
func clipPrograms(lines []string) []string {
	out := slices.Clone(lines)
	for i, line := range out {
		if strings.HasPrefix(line, runCode+": ") {
			out[i] = topicqueue.Clip(line, maxProgram)
		}
	}
	return out
}

// maxProgram bounds a program in the list of what was asked, in bytes.
const maxProgram = 120

// claimLines shows the newest claims that fit, document by document. Quotes are left out: what the block knows is
// judged by its statements.
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

// bySource puts the claims of a document together, and in it those of a place, in the order of the first ones: each is
// then named once.
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

// checkProposals keeps the new topics that may go before the queue: well above the score rule, with a title, and from
// a block that has looked at something.
func (w *work) checkProposals(k int, topics []prompts.NewSubTopic) []topicqueue.SubTopic {
	if k < 2 && w.claims == 0 {
		return nil
	}
	var proposals []topicqueue.SubTopic
	for _, t := range topics {
		title := topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(t.Title)), maxLine)
		// A score above 1 is not on the scale that the model was given, so it says nothing.
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

// distinct drops queries that more than one block has issued.
func distinct(queries []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(queries), func(q string) bool {
		again := seen[q]
		seen[q] = true
		return again
	})
}

func lastOf[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
