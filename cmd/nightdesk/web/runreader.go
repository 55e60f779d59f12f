package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// runReader reads runs from the queue or from storage.
type runReader struct {
	queue *redisqueue.Queue
	store storage.Store
}

func (s runReader) reports() reports.Desk { return reports.Desk{Store: s.store, Queue: s.queue} }

// runID matches valid run IDs. They have no special characters, so they are safe in storage keys.
var runID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

func noRun(id string) error {
	return notHere(fmt.Sprintf("There is no run %q, neither in the queue nor in the storage.", id))
}

// find returns a run from the queue or, if it is no longer there, from its bundle. left: the run is not in the queue.
func (s runReader) find(ctx context.Context, id string) (run topicqueue.Run, blocks []topicqueue.Block, left bool,
	err error) {
	if !runID.MatchString(id) {
		return run, nil, false, noRun(id)
	}
	run, blocks, left, err = bundle.Archive{Store: s.store}.Find(ctx, s.queue, id)
	if errors.Is(err, bundle.ErrNoBundle) {
		err = noRun(id)
	}
	return run, blocks, left, err
}

// verification returns the check results of a run's report.
func (s runReader) verification(ctx context.Context, run string) (v reporting.Verification, err error) {
	if !runID.MatchString(run) {
		return v, noRun(run)
	}
	key := storage.CacheKey(run, "verification.json")
	body, err := s.store.Get(ctx, key)
	if errors.Is(err, storage.ErrNotExist) {
		return v, notHere(fmt.Sprintf("Run %s has no checked report.", run))
	}
	if err == nil {
		if err = json.Unmarshal(body, &v); err != nil {
			err = fmt.Errorf("read %s: %w", s.store.Location(key), err)
		}
	}
	return v, err
}
