package remake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/topicqueue"
)

// Markdown is the name of the format in which reports are written.
const Markdown = "md"

// ReplayRequest says how to write a report again. Empty values mean those of the run.
type ReplayRequest struct {
	RunID, Language, CitationStyle, Length, Audience string

	Template   *string // file or name; nil: as in the run, "": none
	Format     string
	Extractive bool // without a model
}

// Replayed is a report that was written again.
type Replayed struct {
	RunID            string             `json:"run_id"`
	Language         string             `json:"language"`
	CitationStyle    string             `json:"citation_style"`
	Model            string             `json:"model"` // writer model; empty: none
	Title            string             `json:"title"`
	Words            int                `json:"words"`
	Citations        []string           `json:"citations"`
	Removed          []citation.Removal `json:"removed"`
	Fallbacks        []string           `json:"fallbacks"`
	Report           string             `json:"report,omitempty"`   // path, if it was written to a file
	Markdown         string             `json:"markdown,omitempty"` // if not
	Template         bool               `json:"template"`           // sections come from a template
	LLMCalls         int                `json:"llm_calls"`
	PromptTokens     int                `json:"prompt_tokens"`
	CompletionTokens int                `json:"completion_tokens"`

	Body []byte `json:"-"` // in the format of the request
}

// Replay writes a run's report again from its stored evidence, without searching.
func (d Desk) Replay(ctx context.Context, r ReplayRequest) (out Replayed, err error) {
	if known := append([]string{Markdown}, formats.Names()...); !slices.Contains(known, r.Format) {
		return out, view.Usage(fmt.Errorf("--format %s: it is %s", r.Format, view.Either(known...)))
	}
	in, err := bundle.Read(ctx, d.Store, r.RunID)
	if err != nil {
		return out, NoBundle(err)
	}
	o := &in.Run.Options
	changed, err := d.Config.With(map[string]string{"language": cmp.Or(r.Language, o.Language),
		"reporting.citation_style": cmp.Or(r.CitationStyle, o.CitationStyle),
		"reporting.length":         cmp.Or(r.Length, o.Length), "reporting.audience": cmp.Or(r.Audience, o.Audience)})
	if err != nil {
		return out, view.Usage(err)
	}
	o.Language, o.CitationStyle = changed.Language, changed.Reporting.CitationStyle
	o.Length, o.Audience = changed.Reporting.Length, changed.Reporting.Audience
	if r.Template != nil {
		if o.Template, err = intake.ReadTemplate(*r.Template, o.Language); err != nil {
			return out, err
		}
	}
	out = Replayed{RunID: r.RunID, Language: o.Language, CitationStyle: o.CitationStyle, Template: o.Template != ""}
	reporter := reporting.Reporter{Now: time.Now}
	if !r.Extractive {
		if reporter.Model, err = d.counted(ctx, in.Run, &out); err != nil {
			return out, err
		}
	}
	report, err := reporter.Report(ctx, in)
	if err != nil {
		return out, err
	}
	report.AddRun(in.Run)
	out.Title, out.Words, out.Citations = report.Title, report.Words, report.Cited
	out.Removed, out.Fallbacks = report.Removed, report.Fallbacks
	out.Body = []byte(report.Markdown)
	if r.Format != Markdown {
		shown, err := bundle.ReportToFormat(ctx, d.Store, in, report)
		if err != nil {
			return out, err
		}
		out.Body, err = formats.Make(r.Format, shown)
		return out, err
	}
	return out, nil
}

// counted returns the configured model, if any, which counts its calls and tokens in out.
func (d Desk) counted(ctx context.Context, run topicqueue.Run, out *Replayed) (llm.Model, error) {
	model, err := d.writer(ctx, "no LLM_MODEL: the report is made of verbatim quotes")
	if err != nil || model == nil { // a nil *Client in the interface would not be nil
		return nil, err
	}
	out.Model = d.Config.LLM.Writer.Name
	var mu sync.Mutex
	count := func(ctx context.Context, _ string, _ topicqueue.Usage,
		ask func(context.Context, int) (llm.Made, error)) ([]byte, error) {
		made, err := ask(ctx, 0)
		mu.Lock()
		defer mu.Unlock()
		out.LLMCalls++
		out.PromptTokens += made.Usage.PromptTokens
		out.CompletionTokens += made.Usage.CompletionTokens
		return nil, err
	}
	return llm.Run{Model: model, Journal: count, Background: func() llm.Background {
		return llm.Background{Language: run.Options.Language, Date: run.Date(time.Now()), UserInfo: run.Options.UserInfo,
			Length: run.Options.Length, Audience: run.Options.Audience}
	}}, nil
}
