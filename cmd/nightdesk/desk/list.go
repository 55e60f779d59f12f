package desk

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// RunSummary is a run as lists show it.
type RunSummary struct {
	RunID string `json:"run_id"`
	Batch string `json:"batch"`
	Topic string `json:"topic"`
	topicqueue.Labels
	Line        int                 `json:"line,omitempty" jsonschema:"number of the line in the list that was enqueued"`
	State       topicqueue.RunState `json:"state"`
	Reason      string              `json:"reason,omitempty" jsonschema:"why it is partial, failed or cancelled"`
	Paused      bool                `json:"paused,omitempty"`
	Unpublished string              `json:"unpublished,omitempty" jsonschema:"why the report is not in storage yet"`
	Report      string              `json:"report" jsonschema:"path or URL of the report; empty without one"`
	ReportKey   string              `json:"report_key,omitempty" jsonschema:"key of the report in storage"`
	Budget      topicqueue.Budget   `json:"budget,omitzero" jsonschema:"limit of the run"`
	Spent       topicqueue.Budget   `json:"spent,omitzero" jsonschema:"part of budget"`
	Created     *bool               `json:"created,omitempty" jsonschema:"of an order: false if the batch had the topic"`
	CreatedAt   time.Time           `json:"created_at"`
	StartedAt   time.Time           `json:"started_at,omitzero"`
	EndedAt     time.Time           `json:"ended_at,omitzero"`
	Tally       *topicqueue.Tally   `json:"tally,omitempty" jsonschema:"result counts; absent while nothing is in storage"`
}

// Summary returns a run as lists show it.
func (d *Desk) Summary(run topicqueue.Run) RunSummary {
	s := RunSummary{RunID: run.ID, Batch: run.Batch, Topic: run.Topic, Labels: run.Labels, State: run.State,
		Reason: run.Reason, Paused: run.Paused, Unpublished: run.Unpublished, Report: d.Location(run), Tally: run.Tally,
		CreatedAt: run.CreatedAt, StartedAt: run.StartedAt, EndedAt: run.EndedAt}
	if s.Report != "" {
		s.ReportKey = run.Report
	}
	s.Spent, s.Budget = spentOf(run)
	return s
}

// Word describes the state of the run: "queued, paused".
func (s RunSummary) Word() string { return view.StateWord(s.State, s.Paused, s.Unpublished) }

// Used returns how long the run has been running; 0 if it has not started.
func (s RunSummary) Used(now time.Time) time.Duration {
	if s.StartedAt.IsZero() {
		return 0
	}
	return cmp.Or(s.EndedAt, now).Sub(s.StartedAt)
}

// ListRequest selects runs. Empty fields match all runs.
type ListRequest struct {
	Batch string   `json:"batch,omitempty" jsonschema:"only runs of this batch"`
	State string   `json:"state,omitempty" jsonschema:"only runs in this state, such as completed or failed" valid:"state"`
	Tags  []string `json:"tag,omitempty" jsonschema:"only runs with this tag; repeat it for runs that have several tags"`
	ID    string   `json:"id,omitempty" jsonschema:"only the run of the topic with this id in its list"`
	Query string   `json:"q,omitempty" jsonschema:"only runs with this text in their topic, id or tags"`
	Since string   `json:"since,omitempty" jsonschema:"only runs enqueued or ended since then: 24h, 7d, 2026-03-01"`
	Sort  string   `json:"sort,omitempty" valid:"sort" jsonschema:"oldest, newest, ended, state or topic; else by batch"`
	Page
}

// Page selects a part of a list.
type Page struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"maximum number of results; default 50" valid:"limit"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before; absent for the first page" valid:"cursor"`
}

// RunList is one page of runs.
type RunList struct {
	Runs       []RunSummary `json:"runs"`
	Next       string       `json:"next,omitempty" jsonschema:"cursor of the next page; absent on the last one"`
	Unreadable []string     `json:"unreadable,omitempty" jsonschema:"errors of runs that were left out"`
}

// Sorts are the values of ListRequest.Sort, beside none.
var Sorts = []string{"oldest", "newest", "ended", "state", "topic"}

var orders = map[string]func(x, y RunSummary) int{
	"ended": func(x, y RunSummary) int { return y.EndedAt.Compare(x.EndedAt) },
	"state": func(x, y RunSummary) int {
		return cmp.Compare(slices.Index(topicqueue.RunStates, x.State), slices.Index(topicqueue.RunStates, y.State))
	},
	"topic": func(x, y RunSummary) int { return strings.Compare(strings.ToLower(x.Topic), strings.ToLower(y.Topic)) },
}

// Selects reports whether the request has a condition on single runs.
func (r ListRequest) Selects() bool {
	return r.State+r.ID+strings.TrimSpace(r.Query)+r.Since != "" || len(r.Tags) > 0
}

// filter checks the request and returns whether it matches a run. now is the reference time for Since.
func (r ListRequest) filter(now time.Time) (fits func(topicqueue.Run) bool, err error) {
	if r.State != "" && !slices.Contains(topicqueue.RunStates, topicqueue.RunState(r.State)) {
		return nil, view.Usage(fmt.Errorf("state %q is unknown: use one of %s", r.State, strings.Join(States(), ", ")))
	}
	if r.Sort != "" && !slices.Contains(Sorts, r.Sort) {
		return nil, view.Usage(fmt.Errorf("--sort %s: use oldest, newest, ended, state or topic", r.Sort))
	}
	if r.Limit < 0 {
		return nil, view.Usage(fmt.Errorf("--limit %d: give a number of runs, or 0 for all", r.Limit))
	}
	since, err := sinceAt(r.Since, now)
	return func(run topicqueue.Run) bool {
		lacks := func(tag string) bool {
			return !slices.ContainsFunc(run.Tags, func(other string) bool { return strings.EqualFold(tag, other) })
		}
		switch {
		case r.State != "" && run.State != topicqueue.RunState(r.State), slices.ContainsFunc(r.Tags, lacks),
			r.ID != "" && !strings.EqualFold(r.ID, run.Ref):
			return false
		case run.CreatedAt.Before(since) && run.EndedAt.Before(since):
			return false
		}
		return run.Mentions(r.Query)
	}, err
}

// States returns the names of the states of runs.
func States() (out []string) {
	for _, s := range topicqueue.RunStates {
		out = append(out, string(s))
	}
	return out
}

// sinceAt parses a time in the past: a duration, with d for days, a date in local time, or RFC 3339. It returns the
// zero time for "".
func sinceAt(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{},
		view.Usage(fmt.Errorf("--since %q: give a duration (24h, 7d), a date (2026-03-01, 2026-03-01 07:00) or RFC 3339",
			text))
}

// List returns the runs that a request selects.
func (d *Desk) List(ctx context.Context, r ListRequest) (list RunList, err error) {
	fits, err := r.filter(time.Now())
	if err != nil {
		return list, err
	}
	all := r
	if r.Sort != "" && r.Sort != "oldest" {
		all.Limit = 0 // the first ones are known when all are sorted
	}
	if list, err = d.walk(ctx, all, fits); err == nil {
		list.Runs = r.order(list.Runs)
	}
	return list, err
}

// order sorts and truncates a list.
func (r ListRequest) order(runs []RunSummary) []RunSummary {
	switch r.Sort {
	case "", "oldest": // keep the order of reading
	case "newest":
		slices.Reverse(runs)
	default:
		slices.SortStableFunc(runs, orders[r.Sort])
	}
	if r.Limit > 0 {
		runs = runs[:min(r.Limit, len(runs))]
	}
	return runs
}

// walk returns the matching runs of each batch in the order of enqueueing. Without r.Sort, the newest batch is first.
func (d *Desk) walk(ctx context.Context, r ListRequest, fits func(topicqueue.Run) bool) (list RunList, err error) {
	list.Runs = []RunSummary{}
	runs, err := d.Runs(ctx)
	if err != nil {
		return list, err
	}
	from, err := placeOf(r.Cursor)
	if err != nil {
		return list, err
	}
	batches, err := d.batchesFrom(ctx, runs, r.Batch, from, r.Sort == "")
	if err != nil {
		return list, err
	}
	for _, b := range batches {
		start := 0
		if b.Name == from.Batch {
			start = from.At
		}
		err := runs.RunsFrom(ctx, b.Name, start, func(at int, run topicqueue.Run) error {
			if !fits(run) {
				return nil
			}
			if r.Limit > 0 && len(list.Runs) == r.Limit {
				list.Next = place{b.Name, at}.String()
				return errEnough
			}
			list.Runs = append(list.Runs, d.Summary(run))
			return nil
		})
		switch {
		case errors.Is(err, errEnough):
			return list, nil
		case errors.As(err, new(*redisqueue.BrokenError)): // the other runs are usable
			d.Console.Log.Warn().Err(err).Msg("runs are left out of a list")
			list.Unreadable = append(list.Unreadable, err.Error())
		case err != nil:
			return list, err
		}
	}
	return list, nil
}

// batchesFrom returns one batch, or all batches beginning at a place.
func (d *Desk) batchesFrom(ctx context.Context, runs Runs, only string, from place, newestFirst bool) (
	[]redisqueue.Batch, error) {
	batches, err := runs.Batches(ctx)
	if err != nil {
		return nil, err
	}
	if newestFirst {
		slices.Reverse(batches)
	}
	name := cmp.Or(only, from.Batch)
	i := slices.IndexFunc(batches, func(b redisqueue.Batch) bool { return b.Name == name })
	switch {
	case name == "":
		return batches, nil
	case i < 0 && only != "":
		return nil, view.NoBatch(only, batches)
	case i < 0: // starting over would send a client that pages through the list in circles
		return nil, view.Usage(view.Hint(fmt.Errorf("the batch %q of the cursor was deleted", from.Batch),
			"Begin without a cursor."))
	case only != "":
		return batches[i : i+1], nil
	}
	return batches[i:], nil
}

// place is the start of a page: a batch, and an index into its runs.
type place struct {
	Batch string `json:"b"`
	At    int    `json:"a"`
}

func (p place) String() string {
	text, _ := json.Marshal(p) // cannot fail: a string and an int
	return base64.RawURLEncoding.EncodeToString(text)
}

// placeOf decodes a cursor.
func placeOf(cursor string) (p place, err error) {
	if cursor == "" {
		return p, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil || p.At < 0 {
		return p, view.Usage(view.Hint(fmt.Errorf("the cursor %q is invalid", topicqueue.Clip(cursor, 100)),
			"Give `next` of the page before, or begin without."))
	}
	return p, nil
}

// spentOf returns what a run has spent and its limit; both are zero without a budget.
func spentOf(run topicqueue.Run) (spent, limit topicqueue.Budget) {
	unit := run.Options.Limit()
	if unit.Amount() == 0 {
		return topicqueue.Budget{}, topicqueue.Budget{}
	}
	limit = run.Options.Budget
	if run.Options.Common() && run.Limit > 1 { // its share
		limit = unit.Of(run.Limit)
	}
	return unit.Of(run.Spent), limit
}
