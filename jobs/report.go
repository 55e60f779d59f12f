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
	"nightdesk/jobs/stage"
	"nightdesk/jobs/steady"
	"nightdesk/pipeline/llm"
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

// stage returns the stage of writing reports.
func (h reportHandler) stage() stage.Stage {
	return stage.Stage{Work: h.work, Failed: failedRun, Limit: untilOver, Cut: topicqueue.CutReport}
}

// work writes a run's report and ends the run. Parts that are not written in time are written without the model. If
// workers died again and again while writing, the whole report is written without it.
func (h reportHandler) work(ctx context.Context, a *stage.Attempt) (end stage.Ending, err error) {
	in, err := h.findings.steady(ctx, a.Run)
	if err != nil {
		return end, err
	}
	if err := a.Budget.LookForReport(ctx); err != nil {
		return end, err
	}
	if a.Lapses >= redisqueue.MaxLapses {
		return h.write(ctx, a, in, a.Calls.WithoutModel(), "its workers crashed repeatedly while writing it")
	}
	// the remaining time is for writing the rest
	writeCtx, cancel := within(ctx, a.Final, a.Final-min(a.Final/5, finalTime))
	end, err = h.write(writeCtx, a, in, a.Calls.Model(), "")
	cancel()
	if errors.Is(context.Cause(writeCtx), stage.ErrTimeUp) && ctx.Err() == nil && err != nil {
		return h.write(ctx, a, in, a.Calls.WithoutModel(), "the time for writing was used up")
	}
	return end, err
}

// final is the stage of a run whose time is over: its report has the answers in the journal, and the template fills in
// the rest.
func (h reportHandler) final() stage.Stage {
	return stage.Stage{Work: func(ctx context.Context, a *stage.Attempt) (stage.Ending, error) {
		in, err := h.findings.read(ctx, a.Run)
		if err != nil {
			return stage.Ending{}, err
		}
		return h.write(ctx, a, in, a.Calls.WithoutModel(), "the time of the run was used up")
	}, Cut: topicqueue.CutReport}
}

// finalTime is how long before the end of a run its report is written without the model.
const finalTime = 20 * time.Second

// write writes the report, with which the run ends. without: why the model was not asked for all parts; empty: it was.
func (h reportHandler) write(ctx context.Context, a *stage.Attempt, in reporting.Input, model llm.Model,
	without string) (end stage.Ending, err error) {
	r := reporting.Reporter{
		Model: model, Emit: a.Emit, Now: h.bundles.Now, Parallel: reportParallel,
		Page: h.page,
	}
	if in.Returned, err = h.findings.returned(ctx, in); err != nil {
		return end, err
	}
	if in.Plan.Path == topicqueue.PathShallow && in.Answer == "" { // nothing is left for a model to write
		r.Model = nil
	}
	rep, err := r.Report(ctx, in)
	if errors.Is(err, reporting.ErrNoEvidence) {
		return endRun(a, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: noEvidence(in)}, 0), nil
	}
	if err != nil {
		return end, stage.Error("write the report", err)
	}
	content, err := json.Marshal(rep)
	if err != nil {
		return end, stage.Final{Err: fmt.Errorf("encode the report: %w", err)}
	}
	if a.Budget.Limited() {
		run, err := a.Queue.Run(ctx, a.Run.ID)
		if err != nil {
			return end, err
		}
		in.Run.Cuts, in.Run.Limit = run.Cuts, run.Limit
	}
	out := redisqueue.Outcome{Report: storage.ReportKey(a.Run.ID), Content: content}
	out.State, out.Reason = judge(in, rep, cmp.Or(without, a.Calls.Away()))
	// This tries, without the storage, whether the report can be rendered in other formats. The final files, with all
	// their parts, are made when the run is published.
	forms := h.bundles.Formats(a.Run.ID, a.Run.Options.Formats, formats.Report{Tree: rep.Tree,
		Title: rep.Title, Language: a.Run.Options.Language})
	out.Events = append([]topicqueue.Event{topicqueue.StepEvent(topicqueue.StepEndAuthor, rep.Info),
		topicqueue.NewEvent("report", topicqueue.StatusReport,
			topicqueue.ReportFile{Report: out.Report, Title: rep.Title})}, rendered(forms)...)
	return endRun(a, out, claimsOf(in)), nil
}

// page reads a stored text. It waits for an unavailable storage. A text that is not there is empty.
func (h reportHandler) page(ctx context.Context, runID, hash string) (string, error) {
	text, err := steady.Pages{Pages: storage.Pages{Store: h.bundles.Store}}.Page(ctx, runID, hash)
	if errors.Is(err, storage.ErrNotExist) {
		err = nil
	}
	return text, err
}

// endRun ends a run. claims: number of claims that its report is written from.
func endRun(a *stage.Attempt, out redisqueue.Outcome, claims int64) stage.Ending {
	return stage.Ending{Doing: "end the run", Reason: out.Reason,
		Result: fmt.Sprintf("%s: %d claims", out.State, claims),
		Commit: func(ctx context.Context) ([]redisqueue.Intent, error) { return a.Queue.Finish(ctx, a.Lease, out) }}
}

// failedRun ends a run whose plan or report cannot be made.
func failedRun(a *stage.Attempt, reason string) stage.Ending {
	return endRun(a, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: reason}, 0)
}

// untilSeal and untilOver are limits of stages: the time until a run takes no more research, and until it is over.
func untilSeal(a *stage.Attempt) time.Duration { return a.Seal }
func untilOver(a *stage.Attempt) time.Duration { return a.Final }

// within returns a context that ends after a part of a limit with stage.ErrTimeUp. A negative limit is none.
func within(ctx context.Context, limit, part time.Duration) (context.Context, context.CancelFunc) {
	if limit < 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, part, stage.ErrTimeUp)
}

// ofStage selects the model calls of a stage.
func ofStage(name string) func(topicqueue.Usage) bool {
	return func(u topicqueue.Usage) bool { return u.Stage == name }
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

// reportParallel is the number of sections of one report that are written at once. It is enough for all sections that
// the largest preset plans and its reviews add. The governor limits the calls to each server.
const reportParallel = 12
