package reporting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// ErrNoEvidence means that no block and no planning trace holds a single claim, and that nothing has changed since an
// earlier run either: there is nothing to report, the run has failed.
var ErrNoEvidence = errors.New("no evidence was found: there is nothing to write a report from")

// Reporter writes reports. It is safe for concurrent use.
type Reporter struct {
	Model    llm.Model        // nil: reports are put together from verbatim quotes
	Emit     topicqueue.Emit  // nil: no events
	Now      func() time.Time // nil: time.Now
	Parallel int              // sections written at the same time; 4 when not positive
	// Page returns the stored text of a source, by hash, for sources of Input that come without theirs; nil: such
	// sources are known as copies only by hash and address.
	Page func(ctx context.Context, runID, hash string) (string, error)

	// Verify checks a finished report; nil: the registry's own verification, without sanitising.
	Verify func(registry *citation.Registry, markdown string) citation.Verification
}

// Input is what a report is written from.
type Input struct {
	Run    topicqueue.Run
	Plan   topicqueue.Plan
	Review topicqueue.Review // the last one; zero: none
	Blocks []BlockEvidence   // all blocks of the run in their order, failed ones too: the report says what is missing
	Answer string            // of a run that was answered in one conversation: what the model wrote, as it wrote it
	// Returned is all that tools have returned, claims or not, as far as it is known: what a report may link.
	Returned []topicqueue.Returned

	// Of a run that goes on from an earlier one:
	Changes *recurring.Changes // what the report opens with; nil: it is none. Open is for the report to fill in
	Open    []recurring.Open   // gaps of the last report
	Before  *Text              // of which what still holds is kept; nil: all is written
}

// Traces returns those of planning and of all blocks, in order. The slice is the caller's.
func (in Input) Traces() []topicqueue.ToolTrace {
	traces := slices.Clone(in.Plan.Traces)
	for _, b := range in.Blocks {
		traces = append(traces, b.Traces...)
	}
	return traces
}

// BlockEvidence is a block with everything that it found.
type BlockEvidence struct {
	Block  topicqueue.Block
	Traces []topicqueue.ToolTrace
}

// Report is a finished report.
type Report struct {
	Title      string             `json:"title"`
	Markdown   string             `json:"markdown"`
	Info       string             `json:"-"` // what end_author tells watchers, in the language of the report
	Outline    Outline            `json:"outline"`
	Cited      []string           `json:"cited"`             // citation ids in order: planning, then by block and number
	Numbers    map[string]int     `json:"numbers,omitempty"` // in numbered style, the number of each cited id
	Removed    []citation.Removal `json:"removed"`           // markers and links of a model that nothing stands behind
	Words      int                `json:"words"`             // of the text without references; a Chinese or Japanese character counts as one
	Gaps       []Gap              `json:"gaps"`
	Fallbacks  []string           `json:"fallbacks"` // steps that the model should have done and did not, for a person
	Evidence   evidence.Weighed   `json:"evidence"`
	Statistics Statistics         `json:"statistics"`

	Verification *Verification `json:"verification,omitempty"` // how it was checked
	Moments      []Moment      `json:"moments,omitempty"`      // of its writing, in their order

	Changes *recurring.Changes `json:"changes,omitempty"` // since the run that this one goes on from; nil: there is none
	Text    *Text              `json:"text,omitempty"`    // what the next run may keep; nil: the topic is researched once, or no model wrote it
}

// Moment is a moment in the writing of a report, under the name that progress files of other systems have for it.
type Moment struct {
	Name   string    `json:"name"`
	Time   time.Time `json:"time"`
	Titles []string  `json:"titles,omitempty"` // of the sections that it is about
}

// The names of moments.
const (
	MomentDeduplicated = "deduplicate_completed" // what sources say twice is known
	MomentOutlined     = "outline_completed"
	MomentSection      = "writing_section"
)

// Gap is a block of the run that the report says nothing or too little about.
type Gap struct {
	BlockID string `json:"block_id"`
	Title   string `json:"title"`
	Reason  string `json:"reason"` // for a person, in the language of the report
}

// Statistics counts what went into a report.
type Statistics struct {
	Blocks            int `json:"blocks"`
	Sections          int `json:"sections"`
	Claims            int `json:"claims"`             // all that the run holds
	ClaimsLeftOut     int `json:"claims_left_out"`    // of a report without a model: ranked lower than what it shows
	Citations         int `json:"citations"`          // distinct ids cited
	Documents         int `json:"documents"`          // distinct documents and pages cited
	Figures           int `json:"figures"`            // shown
	UncitedSentences  int `json:"uncited_sentences"`  // sentences of model-written sections without a marker
	RepeatedSentences int `json:"repeated_sentences"` // taken out because the report says the same before
	Origins           int `json:"origins"`            // separate origins of these; 1: nothing else bears the report out
	Contradictions    int `json:"contradictions"`     // pairs of statements that cannot both be true
}

// Report writes the report. It sends start_author, unless there is no evidence. That the author has ended is for the
// caller to say, with Report.Info, when the report is kept: an attempt that writes may not be the last.
//
// Trouble with the model is no error: the step takes its local form and is named in Report.Fallbacks. The error is
// ErrNoEvidence, the cause of ctx's end, or that of Emit, after which nothing may be written any more.
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
	report, err := w.write(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("write report of %s: %w", in.Run.ID, err)
	}
	report.Moments = append([]Moment{{Name: MomentDeduplicated, Time: deduplicated.UTC()}}, w.moments...)
	r.verify(ctx, w.registry, &report)
	report.Verification.deliver(report.Markdown, w.registry, report.Changes)
	report.Info = texts.Written.With(prompts.V{"Sections": report.Statistics.Sections, "Words": report.Words, "Citations": report.Statistics.Citations})
	return report, nil
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
