package api

import (
	"context"
	"errors"
	"slices"
	"time"

	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/jobs/search"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Batch is a group of runs that were enqueued together.
type Batch struct {
	Name      string    `json:"batch"`
	CreatedAt time.Time `json:"created_at"`
	Runs      int       `json:"runs"`
	Open      int       `json:"open" jsonschema:"number of runs that have not ended or are not yet in storage"`
}

// BatchList is one page of batches.
type BatchList struct {
	Batches []Batch `json:"batches"`
	Next    string  `json:"next,omitempty" jsonschema:"cursor of the next page; absent on the last one"`
}

// BatchDetail is a batch with the number of runs by state.
type BatchDetail struct {
	Batch
	States map[string]int `json:"states" jsonschema:"number of runs in each state that has any"`
}

func (a batches) batchOf(ctx context.Context, b redisqueue.Batch) (Batch, error) {
	out := Batch{Name: b.Name, CreatedAt: b.CreatedAt}
	var err error
	if out.Runs, err = a.queue.BatchSize(ctx, b.Name); err != nil {
		return out, err
	}
	ending, err := a.queue.Ending(ctx, b.Name)
	out.Open = ending.Open
	return out, err
}

func (a batches) listBatches(c *call) (any, error) {
	from, err := placeOf(c)
	if err != nil {
		return nil, err
	}
	batches, err := a.batchesFrom(c.Context(), "", from.Batch)
	if err != nil {
		return nil, err
	}
	out := BatchList{Batches: []Batch{}}
	for _, b := range batches {
		if len(out.Batches) == c.number("limit", 50) {
			out.Next = place{Batch: b.Name}.String()
			break
		}
		batch, err := a.batchOf(c.Context(), b)
		if err != nil {
			return nil, err
		}
		out.Batches = append(out.Batches, batch)
	}
	return out, nil
}

func (a batches) readBatch(c *call) (any, error) {
	b, err := a.batch(c.Context(), c.PathValue("batch"))
	if err != nil {
		return nil, err
	}
	out := BatchDetail{States: map[string]int{}}
	if out.Batch, err = a.batchOf(c.Context(), b); err != nil {
		return nil, err
	}
	err = a.queue.Runs(c.Context(), b.Name, func(r topicqueue.Run) error {
		out.States[string(r.State)]++
		return nil
	})
	if errors.As(err, new(*redisqueue.BrokenError)) { // the other runs are usable
		err = nil
	}
	return out, err
}

func (a batches) readDigest(c *call) (any, error) {
	d, _, err := reports.Desk{Store: a.store, Queue: a.queue}.Digest(c.Context(), c.PathValue("batch"))
	return d, err
}

func (a batches) search(c *call) (any, error) {
	query := c.URL.Query()
	found, err := a.words(c.Context(), search.Query{Text: query.Get("q"), Batch: query.Get("batch"),
		Limit: c.number("limit", 0), Offset: c.number("offset", 0)})
	if err != nil {
		return nil, err
	}
	for i := range found.Results {
		found.Results[i].Snippets = slices.Clip(list(found.Results[i].Snippets))
	}
	return found, nil
}
