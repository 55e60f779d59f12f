package main

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
)

// goneError reports that a run can no longer be changed: it has ended, and its state has expired from the queue.
type goneError struct {
	run   topicqueue.Run
	after string // how long the queue keeps the state of an ended run
}

func (e goneError) Error() string {
	return fmt.Sprintf("run %s has ended as %s, and its state has expired from the queue after %s "+
		"(queue.state_expiry)", e.run.ID, e.run.State, e.after)
}

// unknownName explains a name that the queue does not know: it was never a run, or its state has expired. Storage tells
// which.
func unknownName(ctx context.Context, cfg config.Config, name string) error {
	if !isRunID(name) {
		return noSuch(name)
	}
	store, err := wiring.OpenStore(ctx, cfg)
	if err != nil {
		return err
	}
	run, err := bundle.ReadRun(ctx, store, name)
	if errors.Is(err, bundle.ErrNoBundle) {
		return noSuch(name)
	}
	if err != nil {
		return err
	}
	e := goneError{run, cfg.Queue.StateExpiry.String()}
	return view.Usage(view.Hint(e, fmt.Sprintf("`nightdesk report %s` prints its report.", name)))
}

// noSuch returns the error for a name that is neither a run nor a batch.
func noSuch(name string) error {
	return view.Usage(view.Hint(fmt.Errorf("there is no run and no batch %q", name),
		"`nightdesk list` shows what there is."))
}

// retryGone suggests alternatives to a retry if err is a goneError.
func retryGone(err error) error {
	var gone goneError
	if !errors.As(err, &gone) {
		return err
	}
	o := gone.run.Options
	again := "printf '%s\\n' " + shellQuote(strings.Join(strings.Fields(gone.run.Topic), " ")) +
		" | nightdesk enqueue - --preset " + shellQuote(o.Preset)
	if o.KnowledgeBase != "" {
		again += " --kb " + shellQuote(o.KnowledgeBase)
	}
	if o.Language != "" {
		again += " --language " + shellQuote(o.Language)
	}
	return view.Usage(view.Hint(gone,
		fmt.Sprintf("Write its report again from what it has found:\n    nightdesk replay %s --out report.md\n  Or "+
			"research its topic again, in a new batch:\n    %s", gone.run.ID, again)))
}

// shellQuote quotes a text as one word for a POSIX shell.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, plainLetters+"-_./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
