package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/bundle"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// GoneError reports that a run can no longer be changed: it has ended, and its state has expired from the queue.
type GoneError struct {
	Run topicqueue.Run
}

func (e GoneError) Error() string {
	return fmt.Sprintf("run %s has ended as %s, and its state has expired from the queue after a week", e.Run.ID,
		e.Run.State)
}

// Unknown explains a name that the queue does not know: it was never a run, or its state has expired. Storage tells
// which.
func Unknown(ctx context.Context, cfg config.Config, name string) error {
	if !IsRunID(name) {
		return NoSuch(name)
	}
	store, err := wiring.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	run, err := bundle.ReadRun(ctx, store, name)
	if errors.Is(err, bundle.ErrNoBundle) {
		return NoSuch(name)
	}
	if err != nil {
		return err
	}
	return view.Refused(GoneError{run}, fmt.Sprintf("`nightdesk report %s` prints its report.", name))
}

// NoSuch returns the error for a name that is neither a run nor a batch.
func NoSuch(name string) error {
	return view.NotFound(fmt.Errorf("there is no run and no batch %q", name), "`nightdesk list` shows what there is.")
}

// NoBatch returns the error for an unknown batch name.
func NoBatch(name string, batches []redisqueue.Batch) error {
	return view.NotFound(NoBatchError(name), "There are: "+batchNames(batches))
}

// NoBatchError holds the name of an unknown batch.
type NoBatchError string

func (e NoBatchError) Error() string { return fmt.Sprintf("there is no batch %q", string(e)) }

func batchNames(batches []redisqueue.Batch) string {
	var names []string
	for _, b := range batches {
		names = append(names, b.Name)
	}
	if len(names) == 0 {
		return "none yet"
	}
	if n := len(names); n > 20 {
		names = names[n-20:]
	}
	return strings.Join(names, ", ")
}
