package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/jobs/bundle"
	"nightdesk/jobs/search"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Patterns of names. Names of runs and batches are used in storage keys.
const (
	runPattern   = `^[A-Za-z0-9_-]{1,100}$`
	batchPattern = `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`
	digits       = `^[0-9]{1,15}$`
	namePattern  = `^[^\x00-\x1f/]{1,100}$`
)

// Parameters shared by several endpoints.
var (
	runParam   = param{name: "run", in: inPath, about: "Id of a run", required: true, pattern: runPattern}
	batchParam = param{name: "batch", in: inPath, about: "Name of a batch", required: true, pattern: batchPattern}
	cursor     = param{name: "cursor", in: inQuery, about: "`next` of the page before; absent for the first page",
		pattern: `^[A-Za-z0-9_-]{1,300}$`}
	limit = param{name: "limit", in: inQuery, about: "Maximum number of results; default 50", least: 1, most: 500}
)

// endpoints returns all endpoints under /v1.
func (a *server) endpoints() []endpoint {
	runs := runs{a.Queue, a.Store, a.Log}
	document := endpoint{method: http.MethodGet, path: "/openapi.json", id: "document", about: "This document",
		kinds: []string{"application/json"}, do: a.document}
	return slices.Concat([]endpoint{document}, runs.endpoints(), batches{runs, a.Search}.endpoints(),
		orders{runs, a.Enqueue, a.Dispatcher}.endpoints(), schedules{a.Schedules}.endpoints(),
		bases{a.Knowledge}.endpoints(), questions{runs.find, a.Ask}.endpoints())
}

// idempotencyKey is the header that makes repeated orders idempotent.
const idempotencyKey = "Idempotency-Key"

// orders serves the endpoints that change batches and runs.
type orders struct {
	runs
	put        func(ctx context.Context, order Order) (Enqueued, error)
	dispatcher *tasks.Dispatcher
}

func (a orders) endpoints() []endpoint {
	onRun := []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}
	run := func(verb, about string, body any, do func(*call) (any, error)) endpoint {
		return endpoint{method: http.MethodPost, path: "/runs/{run}/" + verb, id: verb + "Run", about: about,
			params: []param{runParam}, body: body, answer: RunDetail{}, refusals: onRun, do: do}
	}
	batch := func(verb, about string, body any, do func(*call) (any, error)) endpoint {
		return endpoint{method: http.MethodPost, path: "/batches/{batch}/" + verb, id: verb + "Batch", about: about,
			params: []param{batchParam}, body: body, answer: BatchChange{}, refusals: []int{http.StatusNotFound}, do: do}
	}
	return []endpoint{
		{method: http.MethodPost, path: "/batches", id: "enqueue",
			about: "Put topics into a batch. The same topic in the same batch is one run, however often it is sent",
			params: []param{{name: idempotencyKey, in: inHeader, pattern: `^[\x21-\x7e]{1,200}$`,
				about: "Any text that is new for each order: the order sent again with it makes nothing twice"}},
			body: Order{}, maxBody: maxList, answer: Enqueued{},
			refusals: []int{http.StatusConflict, http.StatusUnprocessableEntity}, do: a.enqueue},
		run("cancel", "End a run now; findings are kept", CancelOptions{}, a.cancel),
		run("pause", "Stop a run where it stands", Nothing{}, a.pause),
		run("resume", "Let a paused run go on", Nothing{}, a.resume),
		run("retry", "Repeat what failed in a run", RetryOptions{}, a.retry),
		run("answer", "Answer the question that a run is waiting for", Reply{}, a.answer),
		batch("cancel", "End all runs of a batch now; findings are kept", CancelOptions{}, a.cancel),
		batch("pause", "Stop all runs of a batch where they stand", Nothing{}, a.pause),
		batch("resume", "Continue all paused runs of a batch", Nothing{}, a.resume),
		batch("retry", "Repeat what failed in the runs of a batch", RetryOptions{}, a.retry),
	}
}

// runs serves the endpoints that read runs, from the queue or from storage.
type runs struct {
	queue *redisqueue.Queue
	store storage.Store
	log   zerolog.Logger
}

func (a runs) endpoints() []endpoint {
	none := []int{http.StatusNotFound}
	return []endpoint{
		{method: http.MethodGet, path: "/runs", id: "listRuns",
			about: "Runs: those of the newest batch first, each batch in the order of enqueueing",
			params: []param{{name: "batch", in: inQuery, about: "Only runs of this batch", pattern: batchPattern},
				{name: "state", in: inQuery, about: "Only runs in this state", values: stateNames()},
				{name: "tag", in: inQuery, about: "Only runs with this tag"},
				{name: "q", in: inQuery, about: "Only runs that have this text in their topic, id or tags"}, limit, cursor},
			answer: RunList{}, refusals: none, do: a.listRuns},
		{method: http.MethodGet, path: "/runs/{run}", id: "readRun", params: []param{runParam},
			about:  "One run with its topic blocks and its questions, whether it is in the queue or only in storage",
			answer: RunDetail{}, refusals: none, do: a.readRun},
		{method: http.MethodGet, path: "/runs/{run}/report", id: "readReport",
			about: "The report of a run", params: []param{runParam, {name: "format", in: inQuery,
				about: "Form of the report; md if absent. audio: as it is read aloud; vtt: the transcript of that; bib, ris " +
					"and csl: its sources",
				values: reports.Formats()}},
			kinds: reportTypes(), refusals: []int{http.StatusNotFound, http.StatusConflict},
			do: a.readReport},
		{method: http.MethodGet, path: "/runs/{run}/claims", id: "listClaims", params: []param{runParam},
			about:  "The claims of a run that is in storage, each with its quote and where that stands in its source",
			answer: []Claim{}, refusals: none, do: a.listClaims},
		{method: http.MethodGet, path: "/runs/{run}/sources", id: "listSources", params: []param{runParam},
			about:  "The sources of a run that is in storage",
			answer: []topicqueue.Source{}, refusals: none, do: a.listSources},
		{method: http.MethodGet, path: "/runs/{run}/verify", id: "verifyRun", params: []param{runParam},
			about:  "Check that the files of a run are unchanged and its citations hold",
			answer: bundle.Check{}, refusals: none, do: a.verifyRun},
		{method: http.MethodGet, path: "/runs/{run}/events", id: "followRun", about: eventsAbout,
			params: []param{runParam,
				{name: "Last-Event-ID", in: inHeader, about: "Number of the last event that was received", pattern: digits},
				{name: "after", in: inQuery, about: "Last-Event-ID, for clients that cannot set the header", pattern: digits}},
			kinds: []string{"text/event-stream"}, noContent: true, refusals: none, do: a.followRun},
	}
}

// batches serves the endpoints that read and search batches.
type batches struct {
	runs
	words func(ctx context.Context, q search.Query) (search.Results, error)
}

func (a batches) endpoints() []endpoint {
	none := []int{http.StatusNotFound}
	return []endpoint{
		{method: http.MethodGet, path: "/batches", id: "listBatches", about: "Batches, the newest first",
			params: []param{limit, cursor}, answer: BatchList{}, refusals: none, do: a.listBatches},
		{method: http.MethodGet, path: "/batches/{batch}", id: "readBatch",
			about:  "One batch with the number of its runs by state",
			params: []param{batchParam}, answer: BatchDetail{}, refusals: none, do: a.readBatch},
		{method: http.MethodGet, path: "/batches/{batch}/digest", id: "readDigest",
			about: "The digest of a batch; of one that has not ended, the digest so far", params: []param{batchParam},
			answer: digest.Digest{}, refusals: none, do: a.readDigest},
		{method: http.MethodGet, path: "/search", id: "search",
			about: "Find words in the reports and claims of all runs; `nightdesk help finding` tells of queries",
			params: []param{{name: "q", in: inQuery, about: "What to look for", required: true},
				{name: "batch", in: inQuery, about: "Only runs of this batch", pattern: batchPattern},
				{name: "limit", in: inQuery, about: "Maximum number of runs; default 20", least: 1, most: 100},
				{name: "offset", in: inQuery, about: "Leave out this number of runs", least: 0, most: 1_000_000}},
			answer: search.Results{}, do: a.search},
	}
}

const (
	eventsAbout = "The events of a run as a stream. `id` is the number of an event, `data` the event as JSON. " +
		"It begins after Last-Event-ID, and ends when the run has; then a client that comes back gets 204. Where " +
		"events are no longer there, one with the status gap stands."
)

// reportTypes returns the media types of reports.
func reportTypes() (out []string) {
	for _, format := range reports.Formats() {
		kind, _, _ := strings.Cut(reports.TypeOf(format), ";")
		out = append(out, kind)
	}
	return out
}

func stateNames() (out []string) {
	for _, s := range topicqueue.RunStates {
		out = append(out, string(s))
	}
	return out
}

func (a *server) document(c *call) (any, error) {
	c.w.Header().Set("Content-Type", "application/json")
	_, _ = c.w.Write(a.spec) // the client has disconnected
	return nil, nil
}
