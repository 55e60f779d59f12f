package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"nightdesk/cmd/nightdesk/desk/reports"
	"nightdesk/jobs/bundle"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Run is an entry in a list of runs.
type Run struct {
	RunID     string    `json:"run_id"`
	Batch     string    `json:"batch"`
	Topic     string    `json:"topic"`
	ID        string    `json:"id,omitempty" jsonschema:"of the topic in its list"`
	Tags      []string  `json:"tags,omitempty"`
	State     string    `json:"state"`
	Reason    string    `json:"reason,omitempty" jsonschema:"why it is partial, failed or cancelled"`
	Paused    bool      `json:"paused,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Report    string    `json:"report,omitempty" jsonschema:"key of the report in storage; absent when there is none"`
	// set if the run's artefacts are in storage
	Tally *topicqueue.Tally `json:"tally,omitempty" jsonschema:"what it has come to: sentences, changes, model calls"`
}

// Claim is a statement that a run has extracted from a source.
type Claim struct {
	ClaimID    string `json:"claim_id"`
	CitationID string `json:"citation_id"`
	SourceID   string `json:"source_id"`
	Text       string `json:"text"`
	Quote      string `json:"quote" jsonschema:"what the source says, verbatim"`
	Start      int    `json:"start" jsonschema:"byte of the text of the source at which the quote begins"`
	End        int    `json:"end"`
}

// RunList is one page of runs.
type RunList struct {
	Runs []Run  `json:"runs"`
	Next string `json:"next,omitempty" jsonschema:"cursor of the next page; absent on the last one"`
}

// RunDetail is a run with its topic blocks and questions.
type RunDetail struct {
	Run
	Preset   string                `json:"preset,omitempty"`
	Language string                `json:"language,omitempty"`
	Audio    *topicqueue.Narration `json:"audio,omitempty" jsonschema:"the report as it is read aloud, or why it is not"`
	Blocks   []topicqueue.Block    `json:"blocks"`
	Dialogue []Question            `json:"dialogue" jsonschema:"what it has asked a person; without an outcome it waits"`
}

// Question is a question of a run to the user, with its outcome.
type Question struct {
	Kind       string    `json:"kind" jsonschema:"clarification or plan"`
	Question   string    `json:"question"`
	Outcome    string    `json:"outcome,omitempty" jsonschema:"answered, declined or missed; absent while the run waits"`
	Answer     string    `json:"answer,omitempty"`
	AskedAt    time.Time `json:"asked_at"`
	Until      time.Time `json:"until,omitzero" jsonschema:"after it the run goes on without an answer"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
}

func questionsOf(r topicqueue.Run) []Question {
	out := []Question{}
	for _, e := range r.Dialogue {
		out = append(out, Question{e.Kind, e.Question.Text, e.Outcome, e.Reply.Text, e.AskedAt, e.Until, e.AnsweredAt})
	}
	return out
}

func runOf(r topicqueue.Run) Run {
	out := Run{RunID: r.ID, Batch: r.Batch, Topic: r.Topic, ID: r.Ref, Tags: r.Tags, State: string(r.State),
		Reason: r.Reason, Paused: r.Paused, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Tally: r.Tally}
	if !r.PublishedAt.IsZero() {
		out.Report = r.Report
	}
	return out
}

// place is the start of a list page: a batch, and an index into its runs.
type place struct {
	Batch string `json:"b"`
	At    int    `json:"a"`
}

func (p place) String() string {
	text, _ := json.Marshal(p) // cannot fail: a string and an int
	return base64.RawURLEncoding.EncodeToString(text)
}

// placeOf decodes the cursor. It returns the zero place if there is none.
func placeOf(c *call) (p place, err error) {
	text := c.URL.Query().Get("cursor")
	if text == "" {
		return p, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil || p.At < 0 {
		return p, problem(http.StatusBadRequest, "Give `next` of the page before, or begin without.",
			"the cursor %q is invalid", shown(text))
	}
	return p, nil
}

// number returns a validated numeric parameter, or absent if it is not set.
func (c *call) number(name string, absent int) int {
	if n, err := strconv.Atoi(c.URL.Query().Get(name)); err == nil {
		return n
	}
	return absent
}

var errEnough = errors.New("enough")

// listRuns lists the runs of one batch or of all.
func (a runs) listRuns(c *call) (any, error) {
	ctx, query := c.Context(), c.URL.Query()
	from, err := placeOf(c)
	if err != nil {
		return nil, err
	}
	batches, err := a.batchesFrom(ctx, query.Get("batch"), from.Batch)
	if err != nil {
		return nil, err
	}
	list, most := RunList{Runs: []Run{}}, c.number("limit", 50)
	fits := func(r topicqueue.Run) bool {
		state, tag := query.Get("state"), query.Get("tag")
		if state != "" && state != string(r.State) || tag != "" && !slices.Contains(r.Tags, tag) {
			return false
		}
		return r.Mentions(query.Get("q"))
	}
	for _, b := range batches {
		start := 0
		if b.Name == from.Batch {
			start = from.At
		}
		err := a.queue.RunsFrom(ctx, b.Name, start, func(at int, r topicqueue.Run) error {
			if !fits(r) {
				return nil
			}
			if len(list.Runs) == most {
				list.Next = place{b.Name, at}.String()
				return errEnough
			}
			list.Runs = append(list.Runs, runOf(r))
			return nil
		})
		if errors.Is(err, errEnough) {
			break
		}
		if errors.As(err, new(*redisqueue.BrokenError)) { // the other runs are usable
			a.log.Warn().Err(err).Msg("runs are left out of a list")
			err = nil
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// batchesFrom returns one batch, or all batches starting at from, newest first.
func (a runs) batchesFrom(ctx context.Context, only, from string) ([]redisqueue.Batch, error) {
	if only != "" {
		b, err := a.batch(ctx, only)
		return []redisqueue.Batch{b}, err
	}
	batches, err := a.queue.Batches(ctx)
	slices.Reverse(batches)
	if err != nil || from == "" {
		return batches, err
	}
	i := slices.IndexFunc(batches, func(b redisqueue.Batch) bool { return b.Name == from })
	if i < 0 { // starting over would send a client that pages through the list in circles
		return nil, problem(http.StatusBadRequest, "Begin without a cursor.", "the batch %q of the cursor was deleted", from)
	}
	return batches[i:], nil
}

func (a runs) batch(ctx context.Context, name string) (redisqueue.Batch, error) {
	b, err := a.queue.Batch(ctx, name)
	if errors.Is(err, redisqueue.ErrNotFound) {
		return b, problem(http.StatusNotFound, "/v1/batches lists those that there are.", "there is no batch %q", name)
	}
	return b, err
}

// find returns a run from the queue or, if it is no longer there, from its bundle.
func (a runs) find(ctx context.Context, id string) (topicqueue.Run, []topicqueue.Block, error) {
	run, blocks, _, err := bundle.Archive{Store: a.store}.Find(ctx, a.queue, id)
	if errors.Is(err, bundle.ErrNoBundle) {
		err = noRun(id)
	}
	return run, blocks, err
}

func noRun(id string) error {
	return problem(http.StatusNotFound, "/v1/runs lists those that there are.",
		"there is no run %q, neither in the queue nor in storage", id)
}

func (a runs) readRun(c *call) (any, error) {
	run, blocks, err := a.find(c.Context(), c.PathValue("run"))
	if err != nil {
		return nil, err
	}
	return RunDetail{Run: runOf(run), Preset: run.Options.Preset, Language: run.Options.Language, Audio: run.Narration,
		Blocks:   list(blocks),
		Dialogue: questionsOf(run)}, nil
}

// list replaces a nil slice by an empty one.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (a runs) readReport(c *call) (any, error) {
	format := cmp.Or(c.URL.Query().Get("format"), reports.Markdown)
	file, err := reports.Desk{Store: a.store}.Report(c.Context(), c.PathValue("run"), format)
	if err != nil {
		return nil, err
	}
	h := c.w.Header()
	h.Set("Content-Type", file.Type())
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
	_, _ = c.w.Write(file.Body) // the client has disconnected
	return nil, nil
}

// stored reads a JSON Lines file of a run.
func stored[T any](a runs, c *call, name string) (any, error) {
	id := c.PathValue("run")
	all, err := bundle.Lines[T](c.Context(), a.store, storage.CacheKey(id, name))
	if errors.Is(err, storage.ErrNotExist) {
		if _, _, err := a.find(c.Context(), id); err != nil {
			return nil, err
		}
		return nil, problem(http.StatusNotFound, "The data is stored when the run ends.", "run %q has none in storage", id)
	}
	if err != nil {
		return nil, err
	}
	return list(all), nil
}

func (a runs) listClaims(c *call) (any, error) {
	return stored[Claim](a, c, "claims.jsonl")
}

func (a runs) listSources(c *call) (any, error) {
	return stored[topicqueue.Source](a, c, "sources.jsonl")
}

func (a runs) verifyRun(c *call) (any, error) {
	id := c.PathValue("run")
	check, err := bundle.Verify(c.Context(), a.store, id)
	if errors.Is(err, bundle.ErrNoBundle) {
		return nil, problem(http.StatusNotFound, "/v1/runs/"+id+" says how far the run is.",
			"run %q has no files in storage", id)
	}
	if err != nil {
		return nil, err
	}
	return check, nil
}
