package desk

import (
	"context"
	"errors"
	"slices"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// BatchSummary is a batch as lists show it.
type BatchSummary struct {
	Name      string    `json:"batch"`
	CreatedAt time.Time `json:"created_at"`
	Runs      int       `json:"runs"`
	Open      int       `json:"open" jsonschema:"number of runs that have not ended or are not yet in storage"`
}

// BatchList is one page of batches.
type BatchList struct {
	Batches []BatchSummary `json:"batches"`
	Next    string         `json:"next,omitempty" jsonschema:"cursor of the next page; absent on the last one"`
}

// BatchRequest names a batch.
type BatchRequest struct {
	Batch string `json:"batch" jsonschema:"Name of a batch" valid:"batch"`
}

// BatchStatus is a batch with the number of its runs by state.
type BatchStatus struct {
	BatchSummary
	States map[topicqueue.RunState]int `json:"states" jsonschema:"number of runs in each state that has any"`
	Tags   []string                    `json:"tags,omitempty" jsonschema:"of its runs, at most 200"`
	Paused int                         `json:"paused"`
	Budget topicqueue.Budget           `json:"budget,omitzero" jsonschema:"of all runs together"`
	Spent  topicqueue.Budget           `json:"spent,omitzero" jsonschema:"by runs with a budget"`

	Unpublished int `json:"unpublished" jsonschema:"runs that have ended and whose bundles are not complete in storage"`

	Working    bool     `json:"-"` // a run waits for the workers that all runs share
	Unreadable []string `json:"unreadable,omitempty" jsonschema:"errors of runs that were left out"`
}

const maxTags = 200

// Batches returns the batches of the queue, the newest first.
func (d *Desk) Batches(ctx context.Context, p Page) (BatchList, error) {
	list := BatchList{Batches: []BatchSummary{}}
	from, err := placeOf(p.Cursor)
	if err != nil {
		return list, err
	}
	batches, err := d.batchesFrom(ctx, d.Queue, "", from, true)
	if err != nil {
		return list, err
	}
	for _, b := range batches {
		if p.Limit > 0 && len(list.Batches) == p.Limit {
			list.Next = place{Batch: b.Name}.String()
			break
		}
		summary := BatchSummary{Name: b.Name, CreatedAt: b.CreatedAt}
		if summary.Runs, err = d.Queue.BatchSize(ctx, b.Name); err != nil {
			return list, err
		}
		ending, err := d.Queue.Ending(ctx, b.Name)
		if err != nil {
			return list, err
		}
		summary.Open = ending.Open
		list.Batches = append(list.Batches, summary)
	}
	return list, nil
}

// Batch returns the status of a batch, from the queue or from storage.
func (d *Desk) Batch(ctx context.Context, r BatchRequest) (s BatchStatus, err error) {
	runs, err := d.Runs(ctx)
	if err != nil {
		return s, err
	}
	batches, err := d.batchesFrom(ctx, runs, r.Batch, place{}, false)
	if err != nil {
		return s, err
	}
	if len(batches) != 1 || r.Batch == "" {
		return s, view.NoSuch(r.Batch)
	}
	s.Name, s.CreatedAt, s.States = batches[0].Name, batches[0].CreatedAt, map[topicqueue.RunState]int{}
	err = runs.RunsFrom(ctx, s.Name, 0, func(_ int, run topicqueue.Run) error {
		s.Count(run)
		return nil
	})
	if errors.As(err, new(*redisqueue.BrokenError)) { // the other runs are usable
		s.Unreadable, err = []string{err.Error()}, nil
	}
	slices.Sort(s.Tags)
	return s, err
}

// Count adds a run.
func (s *BatchStatus) Count(run topicqueue.Run) {
	s.Runs++
	s.States[run.State]++
	s.Working = s.Working || !run.State.Final() && tasks.SharedLane(run.Lane)
	if run.PublishedAt.IsZero() || !run.State.Final() {
		s.Open++
	}
	if run.State.Final() && run.PublishedAt.IsZero() {
		s.Unpublished++
	}
	if run.Paused && !run.State.Final() {
		s.Paused++
	}
	if spent, _ := spentOf(run); spent.Amount() > 0 && spent.SameUnit(s.Spent) {
		s.Spent = spent.Of(spent.Amount() + s.Spent.Amount())
	}
	if b := run.Options.BatchBudget; b.Amount() > 0 {
		s.Budget = b
	}
	for _, tag := range run.Tags {
		if !slices.Contains(s.Tags, tag) && len(s.Tags) < maxTags {
			s.Tags = append(s.Tags, tag)
		}
	}
}
