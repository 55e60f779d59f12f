package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// reportHandler writes reports.
type reportHandler struct {
	bundles  bundle.Services
	findings *findings
}

// work writes a run's report and ends the run. Parts that are not written in time are written without the model. If
// workers died again and again while writing, the whole report is written without it.
func (h reportHandler) work(ctx context.Context, a *attempt) error {
	in, err := h.findings.steady(ctx, a.Run)
	if err != nil {
		return err
	}
	a.claims.Store(claimsOf(in))
	if a.budget.budgeted() {
		if _, _, err := a.budget.purse(ctx, 0); err != nil {
			return err
		}
		a.budget.stay.Store(0) // now reserved for the report itself
	}
	if a.Lapses >= redisqueue.MaxLapses {
		return h.write(ctx, a, in, a.calls.withoutModel(), "its workers crashed repeatedly while writing it")
	}
	writeCtx, cancel := ctx, func() {}
	if a.Final >= 0 { // the remaining time is for writing the rest
		writeCtx, cancel = context.WithTimeoutCause(ctx, a.Final-min(a.Final/5, finalTime), errTimeUp)
	}
	err = h.write(writeCtx, a, in, a.calls.model(), "")
	cancel()
	if errors.Is(context.Cause(writeCtx), errTimeUp) && ctx.Err() == nil && err != nil {
		return h.write(ctx, a, in, a.calls.withoutModel(), "the time for writing was used up")
	}
	return err
}

// finalTime is how long before the end of a run its report is written without the model.
const finalTime = 20 * time.Second

// write writes the report and ends the run. without: why the model was not asked for all parts; empty: it was.
func (h reportHandler) write(ctx context.Context, a *attempt, in reporting.Input, model llm.Model,
	without string) error {
	r := reporting.Reporter{
		Model: model, Emit: a.emit, Now: h.bundles.Now, Parallel: reportParallel,
		Page: storage.Pages{Store: h.bundles.Store}.Page,
	}
	in.Returned = h.findings.returned(ctx, in)
	if in.Plan.Path == topicqueue.PathShallow && in.Answer == "" { // nothing is left for a model to write
		r.Model = nil
	}
	rep, err := r.Report(ctx, in)
	if errors.Is(err, reporting.ErrNoEvidence) {
		out := redisqueue.Outcome{State: topicqueue.RunFailed, Reason: noEvidence(in)}
		return a.finish(ctx, out)
	}
	if err != nil {
		return stageError("write the report", err)
	}
	if without != "" && len(rep.Fallbacks) > 0 {
		rep.Fallbacks = append(rep.Fallbacks, without)
	}
	content, err := json.Marshal(rep)
	if err != nil {
		return endedError{fmt.Errorf("encode the report: %w", err)}
	}
	if a.budget.budgeted() || !a.Run.Options.Deadline.IsZero() {
		run, err := a.queue.Run(ctx, a.Run.ID)
		if err != nil {
			return err
		}
		in.Run.Cuts, in.Run.Limit = run.Cuts, run.Limit
	}
	out := redisqueue.Outcome{Report: storage.ReportKey(a.Run.ID), Content: content}
	away, _ := a.calls.away.Load().(string)
	out.State, out.Reason = judge(in, rep, away)
	// This tries, without the storage, whether the report can be rendered in other formats. The final files, with all
	// their parts, are made when the run is published.
	forms := h.bundles.Formats(a.Run.ID, a.Run.Options.Formats, formats.Report{Markdown: rep.Markdown,
		Title: rep.Title, Language: a.Run.Options.Language})
	out.Events = append([]topicqueue.Event{topicqueue.StepEvent(topicqueue.StepEndAuthor, rep.Info),
		topicqueue.NewEvent("report", topicqueue.StatusReport,
			topicqueue.ReportFile{Report: out.Report, Title: rep.Title})}, rendered(forms)...)
	return a.finish(ctx, out)
}

// rendered returns events about the other formats of a report.
func rendered(forms []bundle.Format) []topicqueue.Event {
	if len(forms) == 0 {
		return nil
	}
	var names, problems []string
	var files []topicqueue.Event
	for _, f := range forms {
		names = append(names, f.Format)
		if f.File == "" {
			problems = append(problems, f.Format+": "+f.Problem)
			continue
		}
		files = append(files, topicqueue.NewEvent(f.Format, f.Format, topicqueue.RenderedFile{File: f.File}))
	}
	end := topicqueue.StepEvent(topicqueue.StepEndRenderReport, "")
	if len(problems) > 0 {
		key := topicqueue.StepFailPartialRenderReport
		if len(files) == 0 {
			key = topicqueue.StepFailAllRenderReport
		}
		end = topicqueue.StepEvent(key, strings.Join(problems, "; "))
	}
	start := topicqueue.StepEvent(topicqueue.StepStartRenderReport, strings.Join(names, ", "))
	return slices.Concat([]topicqueue.Event{start}, files, []topicqueue.Event{end})
}

// final commits the report of a run whose time is over. It uses the answers in the journal and fills in the rest from
// the template.
func (h reportHandler) final(ctx context.Context, a *attempt) error {
	in, err := h.findings.read(ctx, a.Run)
	if err != nil {
		return err
	}
	return h.write(ctx, a, in, a.calls.withoutModel(), "the time of the run was used up")
}

// reportParallel is the number of sections of one report that are written at once. It is enough for all sections that
// the largest preset plans and its reviews add. The governor limits the calls to each server.
const reportParallel = 12

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
	failed := 0
	for _, b := range in.Blocks {
		if b.Block.Status == topicqueue.BlockFailed {
			failed++
		}
	}
	if failed > 0 {
		reasons = append(reasons, fmt.Sprintf("%s failed", ofBlocks(failed, in.Blocks)))
	}
	if n := cutShort(in.Blocks); n > 0 {
		reasons = append(reasons, fmt.Sprintf("%s ended early", ofBlocks(n, in.Blocks)))
	}
	if n := len(in.Plan.Fallbacks); n > 0 {
		reasons = append(reasons, "planning without the model: "+in.Plan.Fallbacks[0])
	}
	if n, why := quotedAlone(in.Blocks); n > 0 && 2*n >= len(in.Blocks) {
		what := "research without the model: " + ofBlocks(n, in.Blocks) + because(why, in.Plan.Fallbacks...)
		if in.Plan.Path == topicqueue.PathShallow {
			what = "the sources are quoted instead of an answer: " + strings.TrimPrefix(why, noAnswer)
		}
		reasons = append(reasons, what)
	}
	if n := len(rep.Fallbacks); n > 0 {
		steps := rep.Fallbacks[0]
		if n > 1 {
			steps = fmt.Sprintf("%s and %d more", steps, n-1)
		}
		reasons = append(reasons, "report without the model: "+steps+because(away, reasons...))
	}
	if len(reasons) == 0 {
		return topicqueue.RunCompleted, ""
	}
	return topicqueue.RunPartial, strings.Join(reasons, "; ")
}

// because returns cause in parentheses, or "" if there is none or it is already in told.
func because(cause string, told ...string) string {
	for _, t := range told {
		if strings.Contains(t, cause) || strings.Contains(cause, t) {
			return ""
		}
	}
	if cause == "" {
		return ""
	}
	return " (" + cause + ")"
}

// ofBlocks formats a count of a run's blocks: "2 of 3 topic blocks".
func ofBlocks(n int, blocks []reporting.BlockEvidence) string {
	if len(blocks) == 1 {
		return "the only topic block"
	}
	return fmt.Sprintf("%d of %d topic blocks", n, len(blocks))
}

// cutShort counts the blocks that ended early with the results they had.
func cutShort(blocks []reporting.BlockEvidence) int {
	n := 0
	for _, b := range blocks {
		if b.Block.Status == topicqueue.BlockCompleted && b.Block.Reason != "" {
			n++
		}
	}
	return n
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

// maxNearest is the maximum number of documents named when none of them bears on the topic.
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
