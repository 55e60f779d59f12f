package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Control changes a run. The error is a [tasks.Refusal] if the state of the run does not allow it.
type Control func(tasks.Controls, context.Context, topicqueue.Run) error

// CancelOptions are the options for cancelling a run.
type CancelOptions struct {
	Report bool   `json:"report,omitempty" jsonschema:"write a report from the findings; the run ends as partial"`
	Reason string `json:"reason,omitempty" jsonschema:"the reason that the run shows"`
}

// Cancel ends a run now; findings are kept.
func Cancel(o CancelOptions) Control {
	reason := topicqueue.Clip(topicqueue.OneLine(cmp.Or(o.Reason, "cancelled by a program")), 1000)
	return func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error {
		return c.Cancel(ctx, run, reason, o.Report)
	}
}

// Pause and Resume stop a run where it stands, and let it go on.
var (
	Pause  Control = tasks.Controls.Pause
	Resume Control = tasks.Controls.Resume
)

// RetryOptions select what to retry.
type RetryOptions struct {
	What RetryWhat `json:"what,omitempty" jsonschema:"blocks (default): failed blocks; report; all: everything"`
}

// RetryWhat is one of the values in RetryWhats.
type RetryWhat string

// RetryWhats are the parts of a run that can be repeated.
var RetryWhats = []any{redisqueue.RetryBlocks, redisqueue.RetryReport, redisqueue.RetryAll}

// Retry repeats what failed in a run.
func Retry(o RetryOptions) Control {
	what := cmp.Or(string(o.What), redisqueue.RetryBlocks)
	return func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error {
		return c.Retry(ctx, run, what)
	}
}

// Changed tells whether a run was changed.
type Changed struct {
	RunID   string `json:"run_id"`
	Changed bool   `json:"changed"`
	Reason  string `json:"reason,omitempty" jsonschema:"why not"`
}

// BatchChange is what became of the runs of a batch.
type BatchChange struct {
	Batch   string    `json:"batch"`
	Runs    int       `json:"runs" jsonschema:"of the batch"`
	Changed []string  `json:"changed" jsonschema:"ids of the runs that were changed; the others stay as they are"`
	Results []Changed `json:"results" jsonschema:"of each run"`
	Gone    int       `json:"-"` // runs whose state has expired
}

// ChangeRun changes one run. A refusal is an error of the kind [view.Conflict], which wraps the [tasks.Refusal].
func (d *Desk) ChangeRun(ctx context.Context, name string, do Control) (Changed, error) {
	run, err := d.Find(ctx, name)
	if err != nil {
		return Changed{}, err
	}
	err = redisqueue.ErrNotFound
	if run.Queued {
		err = do(d.controls(), ctx, run.Run)
	}
	var why tasks.Refusal
	switch {
	case errors.As(err, &why):
		err = view.Refused(fmt.Errorf("run %s stays as it is: %w", run.ID, why),
			"`nightdesk status "+run.ID+"` says how the run is.")
	case errors.Is(err, redisqueue.ErrNotFound):
		err = Gone(run.Run)
	}
	return Changed{RunID: run.ID, Changed: err == nil}, err
}

// ChangeBatch changes the runs of a batch. Runs that refuse stay as they are. With an error, the result has the runs
// before it.
func (d *Desk) ChangeBatch(ctx context.Context, r BatchRequest, do Control) (BatchChange, error) {
	out := BatchChange{Batch: r.Batch, Changed: []string{}, Results: []Changed{}}
	if _, err := d.batchesFrom(ctx, d.Queue, r.Batch, place{}, false); err != nil {
		return out, err
	}
	err := d.Queue.Runs(ctx, r.Batch, func(run topicqueue.Run) error {
		out.Runs++
		err := do(d.controls(), ctx, run)
		var why tasks.Refusal
		switch {
		case err == nil:
			out.Changed = append(out.Changed, run.ID)
		case errors.As(err, &why):
		case errors.Is(err, redisqueue.ErrNotFound):
			out.Gone++
			why = tasks.Refusal("its state has expired")
		default:
			return err
		}
		out.Results = append(out.Results, Changed{run.ID, err == nil, string(why)})
		return nil
	})
	if errors.As(err, new(*redisqueue.BrokenError)) { // the other runs were changed
		d.Console.Log.Warn().Err(err).Str("batch", r.Batch).Msg("runs of a batch cannot be read")
		err = nil
	}
	return out, err
}

// Gone returns the error for a run that can no longer be changed.
func Gone(run topicqueue.Run) error {
	err := fmt.Errorf("run %s has ended as %s, and its state has expired from the queue after a week", run.ID, run.State)
	return view.Refused(err, fmt.Sprintf("`nightdesk report %s` prints its report, `nightdesk replay %[1]s` writes it "+
		"again from what was found, and `nightdesk enqueue` researches its topic again.", run.ID))
}

// CheckBatchName restricts the names of batches.
func CheckBatchName(name string) error {
	if !batchName.MatchString(name) {
		return view.Usage(fmt.Errorf("batch name %q: use at most 100 characters: letters, digits, - _ and dots, not "+
			"beginning with a dot", name))
	}
	return nil
}
