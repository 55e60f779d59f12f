package desk

import (
	"context"
	"errors"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// RunRequest names a run.
type RunRequest struct {
	RunID string `json:"run_id" jsonschema:"Id of a run, or its last ten characters" valid:"run"`
}

// RunDetail is a run with its topic blocks, its questions and its results so far.
type RunDetail struct {
	RunSummary
	Page         string   `json:"page,omitempty" jsonschema:"path or URL of the HTML report"`
	Files        []string `json:"files,omitempty" jsonschema:"paths or URLs of the report in other formats"`
	Audio        string   `json:"audio,omitempty" jsonschema:"path or URL of the report as it is read aloud"`
	NoAudio      string   `json:"no_audio,omitempty" jsonschema:"why a requested narration is missing"`
	Blocks       int      `json:"blocks" jsonschema:"number of topic blocks"`
	FailedBlocks int      `json:"failed_blocks"`
	Citations    int      `json:"citations" jsonschema:"number of citations in the report"`
	Sources      int      `json:"sources" jsonschema:"distinct sources with a claim"`
	LLMCalls     int      `json:"llm_calls"`

	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	Cuts             []string `json:"cuts,omitempty" jsonschema:"what was cut to stay within budget"`
	CostUSD          *float64 `json:"cost_usd" jsonschema:"null: a model without a known price was used"`
	TookMS           int64    `json:"took_ms"`

	Preset    string                `json:"preset,omitempty"`
	Language  string                `json:"language,omitempty"`
	Narration *topicqueue.Narration `json:"narration,omitempty" jsonschema:"the audio in storage, or why there is none"`
	Options   topicqueue.Options    `json:"options"`
	List      []topicqueue.Block    `json:"block_list"`
	Dialogue  []Question            `json:"dialogue" jsonschema:"what it has asked a person; without an outcome it waits"`

	ToolCalls map[string]topicqueue.ToolCalls `json:"tool_calls" jsonschema:"by tool"`
}

// Question is a question of a run to a person, with its outcome.
type Question struct {
	Kind       string    `json:"kind" jsonschema:"clarification or plan"`
	Question   string    `json:"question"`
	Outcome    string    `json:"outcome" jsonschema:"answered, declined or missed; empty while the run waits"`
	Answer     string    `json:"answer"`
	AskedAt    time.Time `json:"asked_at"`
	Until      time.Time `json:"until,omitzero" jsonschema:"after it the run goes on without an answer"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
}

// Run returns one run, whether it is in the queue or only in storage.
func (d *Desk) Run(ctx context.Context, r RunRequest) (RunDetail, error) {
	found, err := d.Find(ctx, r.RunID)
	if err != nil {
		return RunDetail{}, err
	}
	return d.Detail(ctx, found)
}

// Detail returns the details of a run.
func (d *Desk) Detail(ctx context.Context, f Found) (RunDetail, error) {
	run := f.Run
	r := RunDetail{RunSummary: d.Summary(run), Cuts: run.Cuts, Preset: run.Options.Preset,
		Language: run.Options.Language, Narration: run.Narration, Options: run.Options, Dialogue: []Question{},
		ToolCalls: run.ToolCalls, TookMS: d.Summary(run).Used(time.Now()).Milliseconds()}
	if r.ToolCalls == nil {
		r.ToolCalls = map[string]topicqueue.ToolCalls{}
	}
	for _, e := range run.Dialogue {
		r.Dialogue = append(r.Dialogue, Question{e.Kind, e.Question.Text, e.Outcome, e.Reply.Text, e.AskedAt, e.Until,
			e.AnsweredAt})
	}
	blocks, err := f.Blocks(ctx)
	if err != nil {
		return r, err
	}
	r.List, r.Blocks = list(blocks), len(blocks)
	sources := map[string]bool{}
	for _, b := range blocks {
		if b.Status == topicqueue.BlockFailed {
			r.FailedBlocks++
		}
		traces, err := f.from.Traces(ctx, run.ID, b.ID)
		if err != nil {
			return r, err
		}
		for _, t := range traces {
			if len(t.Claims) > 0 {
				sources[t.Source.ID] = true
			}
		}
	}
	r.Sources = len(sources)
	usage, err := f.from.Usage(ctx, run.ID)
	if err != nil {
		return r, err
	}
	r.count(usage)
	if r.Report == "" {
		return r, nil
	}
	metadata, err := d.Reports().Metadata(ctx, run.ID)
	if err != nil {
		return r, err
	}
	r.Citations = len(metadata.Citations)
	for _, f := range metadata.Formats {
		switch {
		case f.File == "":
		case f.Format == formats.NameHTML:
			r.Page = d.Store.Location(f.File)
		default:
			r.Files = append(r.Files, d.Store.Location(f.File))
		}
	}
	r.NoAudio = metadata.Audio.Problem
	if metadata.Audio.File != "" {
		r.Audio = d.Store.Location(metadata.Audio.File)
	}
	return r, nil
}

// count adds up the model calls.
func (r *RunDetail) count(usage []topicqueue.Usage) {
	r.LLMCalls = len(usage)
	cost, known := 0.0, true
	for _, u := range usage {
		if u.CostUSD != nil {
			cost += *u.CostUSD
		}
		known = known && u.CostUSD != nil
		r.PromptTokens += u.PromptTokens
		r.CompletionTokens += u.CompletionTokens
	}
	if known {
		r.CostUSD = &cost
	}
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

// Claims returns the claims of a run that is in storage.
func (d *Desk) Claims(ctx context.Context, r RunRequest) ([]Claim, error) {
	return stored[Claim](ctx, d, r, "claims.jsonl")
}

// Source is a source as a run has read it.
type Source struct {
	topicqueue.Source
	Cited bool `json:"cited" jsonschema:"by the report"`
}

// Sources returns the sources of a run that is in storage.
func (d *Desk) Sources(ctx context.Context, r RunRequest) ([]Source, error) {
	return stored[Source](ctx, d, r, "sources.jsonl")
}

// stored reads a JSON Lines file of a run.
func stored[T any](ctx context.Context, d *Desk, r RunRequest, name string) ([]T, error) {
	run, err := d.Find(ctx, r.RunID)
	if err != nil {
		return nil, err
	}
	all, err := bundle.Lines[T](ctx, d.Store, storage.CacheKey(run.ID, name))
	if errors.Is(err, storage.ErrNotExist) {
		err = notStored(run.ID)
	}
	return list(all), err
}

// Verify checks that the files of a run are unchanged and its citations hold.
func (d *Desk) Verify(ctx context.Context, r RunRequest) (check bundle.Check, err error) {
	id, err := d.FullID(ctx, r.RunID)
	if err != nil {
		return check, err
	}
	if check, err = bundle.Verify(ctx, d.Store, id); errors.Is(err, bundle.ErrNoBundle) {
		err = notStored(id)
	}
	return check, err
}

func notStored(runID string) error {
	return view.NotFound(errors.New("run "+runID+" has no files in storage"),
		"They are stored when the run ends: `nightdesk status "+runID+"` says how far it is.")
}

// list replaces a nil slice by an empty one.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Verification returns the check results of a run's report.
func (d *Desk) Verification(ctx context.Context, runID string) (v checking.Verification, err error) {
	if !runName.MatchString(runID) {
		return v, view.NoSuch(runID)
	}
	v, err = storage.GetJSON[checking.Verification](ctx, d.Store, storage.CacheKey(runID, "verification.json"))
	if errors.Is(err, storage.ErrNotExist) {
		return v, notStored(runID)
	}
	return v, err
}
