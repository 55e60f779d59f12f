package reporting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// ErrNoEvidence means that there is nothing to report: no block and no planning trace has a claim, and nothing changed
// since an earlier run. The run has failed.
var ErrNoEvidence = errors.New("no evidence was found: there is nothing to write a report from")

// Reporter writes reports. It is safe for concurrent use.
type Reporter struct {
	Model    llm.Model        // nil: reports are assembled from verbatim quotes
	Emit     topicqueue.Emit  // nil: no events
	Now      func() time.Time // nil: time.Now
	Parallel int              // number of sections written in parallel; 4 when not positive
	// Page returns the stored text of a source by hash, for sources of Input without a text; "" if the text is lost. An
	// error means that it cannot be read now: the report is not written then. If nil, all such texts count as lost.
	Page func(ctx context.Context, runID, hash string) (string, error)
}

// Input is the material of a report.
type Input struct {
	Run    topicqueue.Run
	Plan   topicqueue.Plan
	Review topicqueue.Review // last review; zero: none
	Blocks []BlockEvidence   // all blocks of the run in order, including failed ones, which the report lists as gaps
	Answer string            // unmodified answer of the model, for a run that was answered in one conversation
	// Returned holds everything that tools returned, with or without claims, as far as recorded: the sources that a
	// report may link.
	Returned []topicqueue.Returned
	Computed []topicqueue.ToolTrace // computations of the report, see Outline

	// Only for a run that continues an earlier one:
	Changes *recurring.Changes // changes shown at the start of the report; nil: none. The report fills in Open
	Open    []recurring.Open   // gaps of the last report
	Before  *Text              // last report, whose valid parts are kept; nil: everything is written
}

// Traces returns the traces of planning, of all blocks and of computations, in order. The caller owns the slice.
func (in Input) Traces() []topicqueue.ToolTrace {
	traces := slices.Clone(in.Plan.Traces)
	for _, b := range in.Blocks {
		traces = append(traces, b.Traces...)
	}
	return append(traces, in.Computed...)
}

// BlockEvidence is a block with all its evidence.
type BlockEvidence struct {
	Block  topicqueue.Block
	Traces []topicqueue.ToolTrace
}

// Report is a finished report.
type Report struct {
	Title      string             `json:"title"`
	Tree       report.Report      `json:"report"`
	Markdown   string             `json:"-"` // rendering of Tree
	Info       string             `json:"-"` // message of the end_author event, in the language of the report
	Outline    Outline            `json:"outline"`
	Cited      []string           `json:"cited"`   // citation ids: planning first, then by block and number
	Removed    []citation.Removal `json:"removed"` // markers and links of a model that have no source
	Words      int                `json:"words"`   // without references; one per Chinese or Japanese character
	Gaps       []Gap              `json:"gaps"`
	Fallbacks  []string           `json:"fallbacks"` // steps that used their local form, for display
	Evidence   evidence.Weighed   `json:"evidence"`
	Statistics Statistics         `json:"statistics"`

	Verification *checking.Verification `json:"verification,omitempty"` // how the report was checked
	Moments      []Moment               `json:"moments,omitempty"`      // moments of the writing, in order

	Changes *recurring.Changes `json:"changes,omitempty"` // changes since the continued run; nil: no such run
	Text    *Text              `json:"text,omitempty"`    // for the next run; nil: one-time topic, or no model used
}

// ReadReport decodes a stored report. One that was written by a version without trees has a tree of format 0, read from
// its Markdown.
func ReadReport(content []byte) (r Report, err error) {
	var old struct{ Markdown string }
	err = errors.Join(json.Unmarshal(content, &r), json.Unmarshal(content, &old))
	if err == nil && r.Tree.Format == 0 {
		r.Tree = report.Read(old.Markdown)
		r.Tree.Format = 0
	}
	return r, err
}

// Moment is a point in time during the writing of a report. Its name is the one that progress files of other systems
// use.
type Moment struct {
	Name   string    `json:"name"`
	Time   time.Time `json:"time"`
	Titles []string  `json:"titles,omitempty"` // titles of the sections concerned
}

// Names of moments.
const (
	MomentDeduplicated = "deduplicate_completed" // duplicate claims are known
	MomentOutlined     = "outline_completed"
	MomentSection      = "writing_section"
)

// Gap is a block of the run that the report does not cover, or not sufficiently.
type Gap struct {
	BlockID string `json:"block_id"`
	Title   string `json:"title"`
	Reason  string `json:"reason"` // human-readable, in the language of the report
}

// Statistics counts what went into a report.
type Statistics struct {
	Blocks            int `json:"blocks"`
	Sections          int `json:"sections"`
	Claims            int `json:"claims"`             // all claims of the run
	ClaimsLeftOut     int `json:"claims_left_out"`    // in a report without a model, claims ranked too low to be shown
	Citations         int `json:"citations"`          // distinct cited ids
	Documents         int `json:"documents"`          // distinct cited documents and pages
	Figures           int `json:"figures"`            // figures shown
	UncitedSentences  int `json:"uncited_sentences"`  // sentences without a marker in sections written by a model
	RepeatedSentences int `json:"repeated_sentences"` // sentences removed because the report already says the same
	Origins           int `json:"origins"`            // independent origins of the sources; 1: they share one origin
	Contradictions    int `json:"contradictions"`     // pairs of statements that cannot both be true
}

// Report writes the report. It emits start_author, unless there is no evidence. The caller emits end_author with
// Report.Info once the report is stored, because this attempt may not be the last.
//
// A model failure is not an error: the step uses its local form and is listed in Report.Fallbacks. The error is
// ErrNoEvidence, the cause of the end of ctx, or an error of Emit. After an error of Emit, the caller must not write
// anything.
func (r *Reporter) Report(ctx context.Context, in Input) (Report, error) {
	texts := prompts.TextsIn(in.Run.Options.Language)
	w := newWriter(r, in, texts)
	if len(w.claims) == 0 && (w.changes == nil || w.changes.None()) {
		return Report{}, ErrNoEvidence
	}
	if err := w.weigh(ctx, in); err != nil {
		return Report{}, fmt.Errorf("weigh the evidence of %s: %w", in.Run.ID, err)
	}
	deduplicated := w.now()
	if err := r.emit(ctx, topicqueue.StepEvent(topicqueue.StepStartAuthor, texts.Writing.String())); err != nil {
		return Report{}, err
	}
	out, err := w.write(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("write report of %s: %w", in.Run.ID, err)
	}
	out.Moments = append([]Moment{{Name: MomentDeduplicated, Time: deduplicated.UTC()}}, w.moments...)
	out.Info = texts.Written.With(prompts.V{
		"Sections": out.Statistics.Sections, "Words": out.Words, "Citations": out.Statistics.Citations,
	})
	return out, nil
}

func (r *Reporter) emit(ctx context.Context, e topicqueue.Event) error {
	if r.Emit == nil {
		return nil
	}
	if err := r.Emit(ctx, e); err != nil {
		return fmt.Errorf("send %s: %w", e.Key, err)
	}
	return nil
}
