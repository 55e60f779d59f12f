package web

import (
	"net/http"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// filter selects runs of a batch. Empty fields match all runs.
type filter struct {
	Query string // substring of the topic, the IDs or the tags
	Tag   string
	ID    string // ID of the topic in its list
	State string
}

func filterOf(r *http.Request) filter {
	q := r.URL.Query()
	return filter{strings.TrimSpace(q.Get("q")), strings.TrimSpace(q.Get("tag")), strings.TrimSpace(q.Get("id")),
		q.Get("state")}
}

// Some reports whether the filter excludes any runs.
func (f filter) Some() bool { return f != filter{} }

// fits reports whether the filter matches a run.
func (f filter) fits(run topicqueue.Run) bool {
	has := func(tag string) bool { return strings.EqualFold(tag, f.Tag) }
	switch {
	case f.State != "" && f.State != string(run.State), f.ID != "" && !strings.EqualFold(f.ID, run.Ref),
		f.Tag != "" && !slices.ContainsFunc(run.Tags, has):
		return false
	}
	return run.Mentions(f.Query)
}
