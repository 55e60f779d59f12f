package jobs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
)

// judge returns whether a run with a report is completed or partial, and why. away: why the model did not write the
// whole report, if known.
func judge(in reporting.Input, rep reporting.Report, away string) (topicqueue.RunState, string) {
	var reasons []string
	if c := in.Changes; c != nil && claimsOf(in) == 0 {
		reasons = append(reasons, fmt.Sprintf("the sources no longer support any statement of the report of %s, and "+
			"nothing new was found; run %s keeps that report", c.Since, c.RunID))
	}
	if in.Run.Sealed != "" {
		reasons = append(reasons, in.Run.Sealed)
	}
	if why := budgetReason(in.Run); why != "" {
		reasons = append(reasons, why)
	}
	failed, early := 0, 0 // early: with the results they had
	for _, b := range in.Blocks {
		switch {
		case b.Block.Status == topicqueue.BlockFailed:
			failed++
		case b.Block.Status == topicqueue.BlockCompleted && b.Block.Reason != "":
			early++
		}
	}
	if failed > 0 {
		reasons = append(reasons, ofBlocks(failed, in.Blocks)+" failed")
	}
	if early > 0 {
		reasons = append(reasons, ofBlocks(early, in.Blocks)+" ended early")
	}
	if why := withoutModel(in, rep, away); why != "" {
		reasons = append(reasons, why)
	}
	if len(reasons) == 0 {
		return topicqueue.RunCompleted, ""
	}
	return topicqueue.RunPartial, strings.Join(reasons, "; ")
}

// withoutModel says what the model did not provide, why, and what to do; "" if it provided all.
func withoutModel(in reporting.Input, rep reporting.Report, away string) string {
	var parts, causes []string
	if len(in.Plan.Fallbacks) > 0 {
		parts, causes = append(parts, "the plan"), append(causes, in.Plan.Fallbacks[0])
	}
	if n, why := quotedAlone(in.Blocks); n > 0 && 2*n >= len(in.Blocks) {
		what := "the notes of " + ofBlocks(n, in.Blocks)
		if in.Plan.Path == topicqueue.PathShallow {
			what, why = "the answer", strings.TrimPrefix(why, noAnswer)
		}
		parts, causes = append(parts, what), append(causes, why)
	}
	if n := len(rep.Fallbacks); n > 0 {
		what := rep.Fallbacks[0]
		if n > 1 {
			what = fmt.Sprintf("%s and %d more", what, n-1)
		}
		parts, causes = append(parts, "the "+what), append(causes, away)
	}
	if len(parts) == 0 {
		return ""
	}
	cause := position.ReplaceAllString(cmp.Or(append(causes, away)...), "")
	remedy := "check the model server, then retry the run"
	switch {
	case strings.Contains(cause, llm.ErrBudget.Error()):
		remedy = "raise the budget"
	case strings.Contains(cause, llm.Unusable), cause == "":
		remedy = "use a larger model"
	}
	if cause != "" {
		cause = " (" + cause + ")"
	}
	return "the model did not provide " + strings.Join(parts, ", ") + cause + "; " + remedy
}

// position matches steps and positions at the start and the end of a fallback.
var position = regexp.MustCompile(`^(?:[a-z_.]+: |block_\d+/[\d.]+: )+| \(block_\d+/[\d.]+\)$`)

// ofBlocks formats a count of a run's blocks: "2 of 3 topic blocks".
func ofBlocks(n int, blocks []reporting.BlockEvidence) string {
	if len(blocks) == 1 {
		return "the only topic block"
	}
	return fmt.Sprintf("%d of %d topic blocks", n, len(blocks))
}

// quotedAlone counts the blocks for which a model should have written statements but wrote none. Their claims are
// quotes: unread sources are quoted, and the statement of such a claim is its quote on one line. why: the reason for
// the first of these blocks.
func quotedAlone(blocks []reporting.BlockEvidence) (n int, why string) {
	for _, b := range blocks {
		claims, written := 0, false
		for _, t := range b.Traces {
			claims += len(t.Claims)
			written = written || slices.ContainsFunc(t.Claims, func(c topicqueue.Claim) bool {
				return c.Text != topicqueue.OneLine(c.Quote)
			})
		}
		if claims > 0 && !written && len(b.Block.Fallbacks) > 0 {
			if n++; n == 1 {
				why = b.Block.Fallbacks[0]
			}
		}
	}
	return n, why
}

// maxNearest is the maximum number of documents named when none is relevant to the topic.
const maxNearest = 3

// nearest returns the names of the first documents that the searches of a run returned.
func nearest(sources []topicqueue.Source) string {
	var names []string
	for _, s := range sources {
		name := topicqueue.Clip(topicqueue.OneLine(cmp.Or(s.Title, s.Document, s.URL)), 80)
		if name != "" && !slices.Contains(names, name) && len(names) < maxNearest {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// noEvidence returns why there is nothing to report.
func noEvidence(in reporting.Input) string {
	blocks := in.Blocks
	if len(blocks) == 0 && in.Run.Sealed != "" {
		return in.Run.Sealed + " before there was a plan"
	}
	why := "no evidence was found: no search result is about the topic"
	if near := nearest(in.AllReturned()); near != "" {
		why += "; the nearest documents: " + near
	}
	if unpaid := func(note string) bool {
		return strings.Contains(note, llm.ErrBudget.Error())
	}; slices.ContainsFunc(blocks, func(b reporting.BlockEvidence) bool {
		return slices.ContainsFunc(b.Block.Fallbacks, unpaid)
	}) {
		why = budgetWords(in.Run) + " had nothing for the model, and without it " + why
	}
	for _, b := range blocks {
		if b.Block.Reason != "" && b.Block.Reason != recurring.NothingFound { // already stated
			return fmt.Sprintf("%s; %s: %s", why, b.Block.ID, strings.TrimPrefix(b.Block.Reason, recurring.NothingFound+"; "))
		}
	}
	for _, b := range blocks {
		if len(b.Block.Fallbacks) > 0 {
			return why + "; without the model: " + b.Block.Fallbacks[0]
		}
	}
	return why
}

// budgetWords names the budget that in the end allowed the run least.
func budgetWords(run topicqueue.Run) string {
	o := run.Options
	switch own := o.Budget.Amount(); {
	case !o.Common(), own > 0 && run.Limit >= own:
		return "the budget"
	case o.NightBudget.Amount() == 0:
		return "the budget of the batch"
	case o.BatchBudget.Amount() == 0:
		return "the budget of the night"
	}
	return "the budget of the batch or of the night"
}

// budgetReason describes the cuts by budget and deadline, or returns "".
func budgetReason(run topicqueue.Run) string {
	var cuts []string
	for _, cut := range []struct{ name, words string }{{topicqueue.CutReview, "no review"},
		{topicqueue.CutIterations, "fewer iterations"}, {topicqueue.CutBlocks, "fewer topic blocks"},
		{topicqueue.CutReport, "a shorter report"}, {topicqueue.CutCheck, "sentences not judged"}} {
		if slices.Contains(run.Cuts, cut.name) {
			cuts = append(cuts, cut.words)
		}
	}
	var reasons []string
	if len(cuts) > 0 {
		reasons = append(reasons, budgetWords(run)+": "+strings.Join(cuts, ", "))
	}
	if slices.Contains(run.Cuts, topicqueue.CutTime) {
		reasons = append(reasons, "the deadline left less time than all runs take at full depth")
	}
	return strings.Join(reasons, "; ")
}

func countClaims(traces []topicqueue.ToolTrace) (n int) {
	for _, t := range traces {
		n += len(t.Claims)
	}
	return n
}

func claimsOf(in reporting.Input) (n int64) {
	for _, b := range in.Blocks {
		n += int64(countClaims(b.Traces))
	}
	return n
}
