package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// report writes a run's report, stores it with its data and evidence, and ends the run.
func (w *Worker) report(ctx context.Context, a *attempt) error {
	in, err := w.evidence(ctx, a.Run)
	if err != nil {
		return err
	}
	model, hasty := a.model(), a.Lapses >= redisqueue.MaxLapses
	if hasty { // whatever ends the workers, the report is written without it
		model = nil
	}
	r := reporting.Reporter{Model: model, Emit: a.emit, Now: w.Now, Parallel: reportParallel}
	rep, err := r.Report(ctx, in)
	if errors.Is(err, reporting.ErrNoEvidence) {
		return w.finish(ctx, a, in, nil, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: noEvidence(in.Blocks)})
	}
	if err != nil {
		return stageError("write the report", err)
	}
	if hasty && a.w.Model != nil {
		rep.Fallbacks = append(rep.Fallbacks, "its workers ended again and again while they wrote it")
	}
	state, reason := judge(in, rep)
	return w.finish(ctx, a, in, &rep, redisqueue.Outcome{State: state, Reason: reason})
}

// reportParallel is how many sections of one report are written at once.
const reportParallel = 4

// evidence reads all that a run has gathered.
func (w *Worker) evidence(ctx context.Context, run topicqueue.Run) (reporting.Input, error) {
	in := reporting.Input{Run: run}
	var err error
	if in.Plan, err = w.Queue.Plan(ctx, run.ID); err != nil {
		return in, err
	}
	if in.Plan.Traces, err = w.Queue.Traces(ctx, run.ID, redisqueue.UnitPlan); err != nil {
		return in, err
	}
	blocks, err := w.Queue.Blocks(ctx, run.ID)
	if err != nil {
		return in, err
	}
	for _, b := range blocks {
		traces, err := w.Queue.Traces(ctx, run.ID, b.ID)
		if err != nil {
			return in, err
		}
		in.Blocks = append(in.Blocks, reporting.BlockEvidence{Block: b, Traces: traces})
	}
	return in, nil
}

// judge says whether a run with a report is completed or partial, and why.
func judge(in reporting.Input, rep reporting.Report) (topicqueue.RunState, string) {
	var reasons []string
	failed := 0
	for _, b := range in.Blocks {
		if b.Block.Status == topicqueue.BlockFailed {
			failed++
		}
	}
	if failed > 0 {
		reasons = append(reasons, fmt.Sprintf("%s failed", ofBlocks(failed, in.Blocks)))
	}
	if n := len(in.Plan.Fallbacks); n > 0 {
		reasons = append(reasons, "planning without the model: "+in.Plan.Fallbacks[0])
	}
	if n := withoutModel(in.Blocks); n > 0 && 2*n >= len(in.Blocks) {
		reasons = append(reasons, "research without the model: "+ofBlocks(n, in.Blocks))
	}
	if n := len(rep.Fallbacks); n > 0 {
		steps := rep.Fallbacks[0]
		if n > 1 {
			steps = fmt.Sprintf("%s and %d more", steps, n-1)
		}
		reasons = append(reasons, "report without the model: "+steps)
	}
	if len(reasons) == 0 {
		return topicqueue.RunCompleted, ""
	}
	return topicqueue.RunPartial, strings.Join(reasons, "; ")
}

// ofBlocks says how many of a run's blocks it is about: "2 of 3 topic blocks".
func ofBlocks(n int, blocks []reporting.BlockEvidence) string {
	if len(blocks) == 1 {
		return "the only topic block"
	}
	return fmt.Sprintf("%d of %d topic blocks", n, len(blocks))
}

// withoutModel counts the blocks that a model should have researched and of whose statements it wrote none: what it did
// not read is quoted, and a quote states itself.
func withoutModel(blocks []reporting.BlockEvidence) int {
	n := 0
	for _, b := range blocks {
		claims, written := 0, false
		for _, t := range b.Traces {
			claims += len(t.Claims)
			written = written || slices.ContainsFunc(t.Claims, func(c topicqueue.Claim) bool { return c.Text != c.Quote })
		}
		if claims > 0 && !written && len(b.Block.Fallbacks) > 0 {
			n++
		}
	}
	return n
}

// noEvidence says why there is nothing to report.
func noEvidence(blocks []reporting.BlockEvidence) string {
	why := fmt.Sprintf("no evidence was found: none of %d topic blocks has a usable source", len(blocks))
	if len(blocks) == 1 {
		why = "no evidence was found: the only topic block has no usable source"
	}
	for _, b := range blocks {
		if b.Block.Reason != "" {
			return fmt.Sprintf("%s; %s: %s", why, b.Block.ID, b.Block.Reason)
		}
	}
	return why
}

// finish stores the bundle and ends the run: first all that the report needs, then the commit, then what only the commit
// makes final (state and events), and the manifest last.
func (w *Worker) finish(ctx context.Context, a *attempt, in reporting.Input, rep *reporting.Report, out redisqueue.Outcome) error {
	b := newBundle(w, in, rep)
	if rep != nil {
		if err := b.putReport(ctx); err != nil {
			return err
		}
		out.Report = b.reportKey()
	}
	out.Sites = sites(in)
	out.Events = b.events(out)
	if err := w.Queue.Finish(ctx, a.Lease, out); err != nil {
		return err
	}
	return b.seal(ctx)
}

// sites counts the distinct hosts of web sources.
func sites(in reporting.Input) int {
	hosts := map[string]bool{}
	add := func(traces []topicqueue.ToolTrace) {
		for _, t := range traces {
			if u, err := url.Parse(t.Source.URL); err == nil && u.Hostname() != "" {
				hosts[strings.ToLower(u.Hostname())] = true
			}
		}
	}
	add(in.Plan.Traces)
	for _, b := range in.Blocks {
		add(b.Traces)
	}
	return len(hosts)
}
