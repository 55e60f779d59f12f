package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// action is an operation on runs that a page offers.
type action struct {
	Do   string // value in forms
	Name string // label of its button
	Done string // completes "3 runs are ..."
	// fits reports whether the action is available for a run.
	fits func(topicqueue.Run) bool
	do   func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error
}

// actions lists all actions in the order of their buttons.
var actions = []action{
	{"retry", "Do again what failed", "queued again", func(r topicqueue.Run) bool {
		return r.State == topicqueue.RunFailed || r.State == topicqueue.RunPartial || r.State == topicqueue.RunCancelled
	}, func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error {
		return c.Retry(ctx, run, redisqueue.RetryBlocks)
	}},
	{"pause", "Pause", "paused", func(r topicqueue.Run) bool { return !r.State.Final() && !r.Paused },
		tasks.Controls.Pause},
	{"resume", "Resume", "going on", func(r topicqueue.Run) bool { return r.Paused },
		tasks.Controls.Resume},
	{"report", "End, and write up what was found", "ended and will be written up", unended,
		func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error {
			return c.Cancel(ctx, run, "ended on the page", true)
		}},
	{"cancel", "Cancel", "cancelled", unended,
		func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error {
			return c.Cancel(ctx, run, "cancelled on the page", false)
		}},
}

func unended(r topicqueue.Run) bool { return !r.State.Final() }

// offered returns the actions that at least one of the runs allows.
func offered(runs ...topicqueue.Run) (out []action) {
	for _, a := range actions {
		if slices.ContainsFunc(runs, a.fits) {
			out = append(out, a)
		}
	}
	return out
}

const (
	maxForm = 1 << 20 // maximum size of a form, in bytes
	maxSaid = 50      // maximum number of unchanged runs listed with a reason
)

// actPage is the result page of an action.
type actPage struct {
	Done    string
	Kept    []keptRun
	More    int // number of unchanged runs that are not listed
	BackURL string
}

type keptRun struct{ Topic, URL, Why string }

// actionPages apply actions to runs.
type actionPages struct{ controls tasks.Controls }

// act applies an action to the runs selected in a form.
func (s actionPages) act(ctx context.Context, r *http.Request) (string, any, error) {
	if err := r.ParseForm(); err != nil {
		return "", nil, wrong("This form cannot be read: " + err.Error())
	}
	at := slices.IndexFunc(actions, func(a action) bool { return a.Do == r.PostForm.Get("do") })
	ids := r.PostForm["run"]
	switch {
	case at < 0:
		return "", nil, wrong("There is no such action.")
	case len(ids) == 0:
		return "", nil, wrong("No run was selected: select runs in the list before you press a button.")
	}
	a, p, done := actions[at], actPage{BackURL: backOf(r)}, 0
	for _, id := range ids {
		run, err := s.controls.Queue.Run(ctx, id)
		if err == nil {
			err = a.do(s.controls, ctx, run)
		}
		var refusal tasks.Refusal
		switch {
		case err == nil:
			done++
			continue
		case errors.As(err, &refusal):
		case errors.Is(err, redisqueue.ErrNotFound):
			refusal = "it has left the queue; its report is kept"
		default:
			return "", nil, fmt.Errorf("%d of %d runs are %s; then an error occurred: %w", done, len(ids), a.Done, err)
		}
		if len(p.Kept) == maxSaid {
			p.More++
			continue
		}
		p.Kept = append(p.Kept, keptRun{cmp.Or(topicqueue.Clip(topicqueue.OneLine(run.Topic), 120), id),
			"./runs/" + name(id), string(refusal)})
	}
	p.Done = fmt.Sprintf("%d runs are %s.", done, a.Done)
	if done == 1 {
		p.Done = fmt.Sprintf("1 run is %s.", a.Done)
	}
	return a.Name, p, nil
}

// backOf returns the path of the page that contains the form, or the start page if the path is invalid.
func backOf(r *http.Request) string {
	back := r.PostForm.Get("back")
	if !strings.HasPrefix(back, "/") || strings.HasPrefix(back, "//") || strings.ContainsAny(back, "\\\r\n") {
		return "./"
	}
	return "." + back
}
