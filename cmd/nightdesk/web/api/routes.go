package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/cmd/nightdesk/desk/schedules"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue/schedule"
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// nothing is a request without parameters.
type nothing struct{}

// endpoints returns all endpoints under /v1.
func (a *server) endpoints() []endpoint {
	document := rawRoute("/openapi.json", "document", "This document", []string{"application/json"},
		func(w http.ResponseWriter, _ *http.Request, _ nothing) error {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(a.spec) // the client has disconnected
			return nil
		})
	return slices.Concat([]endpoint{document}, a.reading(), a.changing(), a.schedules(), a.bases())
}

// reading returns the endpoints that read runs and batches.
func (a *server) reading() []endpoint {
	d := a.Desk
	events := rawRoute("/runs/{run_id}/events", "followRun", eventsAbout, []string{"text/event-stream"}, a.follow)
	events.noContent = true
	return []endpoint{
		route(get, "/runs", "listRuns", "Runs: those of the newest batch first, each batch in the order of enqueueing",
			d.List),
		route(get, "/runs/{run_id}", "readRun",
			"One run with its topic blocks and its questions, whether it is in the queue or only in storage", d.Run),
		rawRoute("/runs/{run_id}/report", "readReport", "The report of a run", reportTypes(), a.readReport),
		route(get, "/runs/{run_id}/claims", "listClaims",
			"The claims of a run that is in storage, each with its quote and where that stands in its source", d.Claims),
		route(get, "/runs/{run_id}/sources", "listSources", "The sources of a run that is in storage", d.Sources),
		route(get, "/runs/{run_id}/verify", "verifyRun",
			"Check that the files of a run are unchanged and its citations hold", d.Verify),
		events,
		route(get, "/batches", "listBatches", "Batches, the newest first", d.Batches),
		route(get, "/batches/{batch}", "readBatch", "One batch with the number of its runs by state", d.Batch),
		route(get, "/batches/{batch}/digest", "readDigest",
			"The digest of a batch; of one that has not ended, the digest so far",
			func(ctx context.Context, r desk.BatchRequest) (digest.Digest, error) {
				out, _, err := d.Reports().Digest(ctx, r.Batch)
				return out, err
			}),
		route(get, "/search", "search",
			"Find words in the reports and claims of all runs; `nightdesk help finding` tells of queries", a.Search),
	}
}

// changing returns the endpoints that add runs and change them.
func (a *server) changing() []endpoint {
	d := a.Desk
	return []endpoint{
		route(post, "/batches", "enqueue",
			"Put topics into a batch. The same topic in the same batch is one run, however often it is sent", d.Enqueue),
		route(post, "/runs/{run_id}/cancel", "cancelRun", "End a run now; findings are kept",
			func(ctx context.Context, in struct {
				desk.RunRequest
				desk.CancelOptions
			}) (desk.RunDetail, error) {
				return a.change(ctx, in.RunRequest, desk.Cancel(in.CancelOptions))
			}),
		route(post, "/runs/{run_id}/pause", "pauseRun", "Stop a run where it stands",
			func(ctx context.Context, r desk.RunRequest) (desk.RunDetail, error) {
				return a.change(ctx, r, desk.Pause)
			}),
		route(post, "/runs/{run_id}/resume", "resumeRun", "Let a paused run go on",
			func(ctx context.Context, r desk.RunRequest) (desk.RunDetail, error) {
				return a.change(ctx, r, desk.Resume)
			}),
		route(post, "/runs/{run_id}/retry", "retryRun", "Repeat what failed in a run",
			func(ctx context.Context, in struct {
				desk.RunRequest
				desk.RetryOptions
			}) (desk.RunDetail, error) {
				return a.change(ctx, in.RunRequest, desk.Retry(in.RetryOptions))
			}),
		route(post, "/runs/{run_id}/answer", "answerRun", "Answer the question that a run is waiting for",
			func(ctx context.Context, in desk.AnswerRequest) (desk.RunDetail, error) {
				if _, err := d.Answer(ctx, in); err != nil {
					return desk.RunDetail{}, err
				}
				return d.Run(ctx, in.RunRequest)
			}),
		route(post, "/runs/{run_id}/ask", "askRun",
			"Ask about a report. The answer is the report of the run that is returned, made from what the run asked "+
				"about has read; it is ready when that run has ended", d.Ask),
		route(post, "/batches/{batch}/cancel", "cancelBatch", "End all runs of a batch now; findings are kept",
			func(ctx context.Context, in struct {
				desk.BatchRequest
				desk.CancelOptions
			}) (desk.BatchChange, error) {
				return d.ChangeBatch(ctx, in.BatchRequest, desk.Cancel(in.CancelOptions))
			}),
		route(post, "/batches/{batch}/pause", "pauseBatch", "Stop all runs of a batch where they stand",
			func(ctx context.Context, r desk.BatchRequest) (desk.BatchChange, error) {
				return d.ChangeBatch(ctx, r, desk.Pause)
			}),
		route(post, "/batches/{batch}/resume", "resumeBatch", "Continue all paused runs of a batch",
			func(ctx context.Context, r desk.BatchRequest) (desk.BatchChange, error) {
				return d.ChangeBatch(ctx, r, desk.Resume)
			}),
		route(post, "/batches/{batch}/retry", "retryBatch", "Repeat what failed in the runs of a batch",
			func(ctx context.Context, in struct {
				desk.BatchRequest
				desk.RetryOptions
			}) (desk.BatchChange, error) {
				return d.ChangeBatch(ctx, in.BatchRequest, desk.Retry(in.RetryOptions))
			}),
	}
}

// change changes a run and returns it as it is then.
func (a *server) change(ctx context.Context, r desk.RunRequest, do desk.Control) (desk.RunDetail, error) {
	if _, err := a.Desk.ChangeRun(ctx, r.RunID, do); err != nil {
		return desk.RunDetail{}, err
	}
	return a.Desk.Run(ctx, r)
}

const eventsAbout = "The events of a run as a stream. `id` is the number of an event, `data` the event as JSON. " +
	"It begins after Last-Event-ID, and ends when the run has; then a client that comes back gets 204. Where " +
	"events are no longer there, one with the status gap stands."

// reportRequest selects a report and its form.
type reportRequest struct {
	desk.RunRequest
	Format string `json:"format,omitempty" valid:"format" jsonschema:"md if absent; vtt: transcript; csl: sources"`
}

// reportTypes returns the media types of reports.
func reportTypes() (out []string) {
	for _, format := range reports.Formats() {
		kind, _, _ := strings.Cut(reports.TypeOf(format), ";")
		out = append(out, kind)
	}
	return out
}

func (a *server) readReport(w http.ResponseWriter, r *http.Request, in reportRequest) error {
	run, err := a.Desk.FullID(r.Context(), in.RunID)
	if err != nil {
		return err
	}
	if in.Format == "" {
		in.Format = reports.Markdown
	}
	file, err := a.Desk.Reports().Report(r.Context(), run, in.Format)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", file.Type())
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
	_, _ = w.Write(file.Body) // the client has disconnected
	return nil
}

// scheduleRequest names a schedule.
type scheduleRequest struct {
	Name string `json:"name" jsonschema:"Name of a schedule" valid:"name"`
}

// pauseRequest pauses a schedule.
type pauseRequest struct {
	scheduleRequest
	Reason string `json:"reason,omitempty" jsonschema:"what the list of schedules says of it"`
}

func (a *server) schedules() []endpoint {
	all := a.Desk.Schedules()
	return []endpoint{
		route(get, "/schedules", "listSchedules", "Schedules with their next due times",
			func(ctx context.Context, _ nothing) (schedules.ScheduleList, error) { return all.List(ctx) }),
		route(get, "/schedules/{name}", "readSchedule", "One schedule",
			func(ctx context.Context, r scheduleRequest) (schedules.Schedule, error) { return all.Show(ctx, r.Name) }),
		route(post, "/schedules/{name}/pause", "pauseSchedule", "Pause a schedule",
			func(ctx context.Context, r pauseRequest) (schedules.Schedule, error) {
				why := shown(r.Reason)
				if why == "" {
					why = "by a program"
				}
				return all.Pause(ctx, r.Name, why)
			}),
		route(post, "/schedules/{name}/resume", "resumeSchedule", "Resume a paused schedule",
			func(ctx context.Context, r scheduleRequest) (schedules.Schedule, error) {
				return all.Resume(ctx, r.Name)
			}),
		route(post, "/schedules/{name}/fire", "fireSchedule", "Enqueue the topics of a schedule now",
			func(ctx context.Context, r scheduleRequest) (schedule.Firing, error) { return all.Fire(ctx, r.Name) }),
	}
}

// baseRequest names a knowledge base.
type baseRequest struct {
	Name string `json:"name" jsonschema:"Name of a knowledge base" valid:"name"`
}

func (a *server) bases() []endpoint {
	return []endpoint{
		route(get, "/knowledge", "listKnowledge",
			"Knowledge bases of the machine that serves; `kb` of an order names one",
			func(ctx context.Context, _ nothing) (bases.BaseList, error) { return a.Desk.Bases().List(ctx) }),
		route(get, "/knowledge/{name}", "readKnowledge", "One knowledge base",
			func(ctx context.Context, r baseRequest) (knowledge.Info, error) {
				return a.Desk.Bases().Info(ctx, r.Name)
			}),
	}
}
