package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

// action is an operation on runs that a page offers.
type action struct {
	Do   string // value in forms
	Name string // label of its button
	Done string // completes "3 runs are ..."
	// fits reports whether the action is available for a run.
	fits func(desk.RunSummary) bool
	do   desk.Control
}

// actions lists all actions in the order of their buttons.
var actions = []action{
	{"retry", "Do again what failed", "queued again", func(r desk.RunSummary) bool {
		return r.State == topicqueue.RunFailed || r.State == topicqueue.RunPartial || r.State == topicqueue.RunCancelled
	}, desk.Retry(desk.RetryOptions{})},
	{"pause", "Pause", "paused", func(r desk.RunSummary) bool { return unended(r) && !r.Paused }, desk.Pause},
	{"resume", "Resume", "going on", func(r desk.RunSummary) bool { return r.Paused }, desk.Resume},
	{"report", "End, and write up what was found", "ended and will be written up", unended,
		desk.Cancel(desk.CancelOptions{Report: true, Reason: "ended on the page"})},
	{"cancel", "Cancel", "cancelled", unended, desk.Cancel(desk.CancelOptions{Reason: "cancelled on the page"})},
}

func unended(r desk.RunSummary) bool { return !r.State.Final() }

// offered returns the actions that at least one of the runs allows.
func offered(runs ...desk.RunSummary) (out []action) {
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

// act applies an action to the runs selected in a form.
func (s *site) act(ctx context.Context, r *http.Request) (string, any, error) {
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
		_, err := s.ChangeRun(ctx, id, a.do)
		switch {
		case err == nil:
			done++
			continue
		case !view.IsUsage(err):
			return "", nil, fmt.Errorf("%d of %d runs are %s; then an error occurred: %w", done, len(ids), a.Done, err)
		}
		if len(p.Kept) == maxSaid {
			p.More++
			continue
		}
		run, _ := s.Find(ctx, id) // without its topic, its id is shown
		p.Kept = append(p.Kept, keptRun{cmp.Or(topicqueue.Clip(topicqueue.OneLine(run.Topic), 120), id),
			"./runs/" + name(id), err.Error()})
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
