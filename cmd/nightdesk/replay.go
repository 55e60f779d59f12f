package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/topicqueue"
)

// replayFlags are the flags of replay. Empty values mean those of the run.
type replayFlags struct {
	language, style, format, out, length, audience string
	template                                       *string // file; nil: as in the run, "": none
	extractive                                     bool
}

func replayCommand(p *program) *cobra.Command {
	var f replayFlags
	var template string
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use: "replay RUN", Short: "Write a run's report again from its stored evidence, without any search",
		Args: cobra.ExactArgs(1),
		Long: `Write a run's report again from its stored evidence, without searching: with the configured model
(LLM_MODEL, LLM_WRITER_MODEL), in another language, citation style or format, or with a template.
The stored report is not changed. The new one goes to standard output or to --out FILE.`,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if cmd.Flags().Changed("template") {
				f.template = &template
			}
			return replayRun(ctx, s, args[0], f)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.language, "language", "", "language of the report (default: that of the run)")
	flags.StringVar(&f.style, "citation-style", "", "anchors or numbered (default: that of the run)")
	flags.StringVar(&template, "template", "",
		"file with the sections of the report, or the name of a template (default: that of the run; \"\": none)")
	flags.StringVar(&f.length, "length", "", "length of the report, in your own words: \"one page\"")
	flags.StringVar(&f.audience, "audience", "", "readers of the report, in your own words: \"engineers who know "+
		"databases\"")
	flags.StringVar(&f.format, "format", "md", "md, html or docx")
	flags.StringVar(&f.out, "out", "", "file for the report (default: standard output)")
	flags.BoolVar(&f.extractive, "extractive", false, "write it from verbatim quotes only, without a model")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "report-template" { // the flag's name in commands where --template makes topics
			name = "template"
		}
		return pflag.NormalizedName(name)
	})
	return cmd
}

// replayResult is the JSON document of `replay --json`.
type replayResult struct {
	RunID            string             `json:"run_id"`
	Language         string             `json:"language"`
	CitationStyle    string             `json:"citation_style"`
	Model            string             `json:"model"` // writer model; empty: none
	Title            string             `json:"title"`
	Words            int                `json:"words"`
	Citations        []string           `json:"citations"`
	Removed          []citation.Removal `json:"removed"`
	Fallbacks        []string           `json:"fallbacks"`
	Report           string             `json:"report,omitempty"`   // path of --out
	Markdown         string             `json:"markdown,omitempty"` // without --out
	Template         bool               `json:"template"`           // sections come from a template
	LLMCalls         int                `json:"llm_calls"`
	PromptTokens     int                `json:"prompt_tokens"`
	CompletionTokens int                `json:"completion_tokens"`
}

func replayRun(ctx context.Context, s *session, name string, f replayFlags) error {
	if f.format != "md" && !slices.Contains(formats.Names(), f.format) {
		return view.Usage(fmt.Errorf("--format %s: it is md, %s", f.format, strings.Join(formats.Names(), " or ")))
	}
	if f.format != "md" && f.out == "" && (s.JSON || view.IsTerminal(s.Out)) {
		return view.Usage(fmt.Errorf("--format %s needs a file: --out FILE", f.format))
	}
	store, runID, err := s.openRun(ctx, name)
	if err != nil {
		return err
	}
	in, err := bundle.Read(ctx, store, runID)
	if err != nil {
		return noBundle(err)
	}
	o := &in.Run.Options
	asked := map[string]string{"language": cmp.Or(f.language, o.Language),
		"reporting.citation_style": cmp.Or(f.style, o.CitationStyle),
		"reporting.length":         cmp.Or(f.length, o.Length), "reporting.audience": cmp.Or(f.audience, o.Audience)}
	changed, err := s.cfg.With(asked)
	if err != nil {
		return view.Usage(err)
	}
	o.Language, o.CitationStyle = changed.Language, changed.Reporting.CitationStyle
	o.Length, o.Audience = changed.Reporting.Length, changed.Reporting.Audience
	if f.template != nil {
		if o.Template, err = intake.ReadTemplate(*f.template, o.Language); err != nil {
			return err
		}
	}
	r := reporting.Reporter{Now: time.Now}
	result := replayResult{RunID: runID, Language: o.Language, CitationStyle: o.CitationStyle, Template: o.Template != ""}
	if !f.extractive {
		if err := replayModel(ctx, s, in.Run, &r, &result); err != nil {
			return err
		}
	}
	report, err := r.Report(ctx, in)
	if err != nil {
		return err
	}
	report.AddHead(in.Run)
	result.Title, result.Words, result.Citations, result.Removed, result.Fallbacks = report.Title, report.Words,
		report.Cited, report.Removed, report.Fallbacks
	body := []byte(report.Markdown)
	if f.format != "md" {
		shown, err := bundle.ReportToFormat(ctx, store, in, report)
		if err != nil {
			return err
		}
		if body, err = formats.Make(f.format, shown); err != nil {
			return err
		}
	}
	if f.out != "" {
		if err := os.WriteFile(f.out, body, 0o644); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		result.Report = f.out
	} else {
		result.Markdown = string(body)
	}
	if err := printReplay(s.Console, result); err != nil {
		return err
	}
	if len(report.Fallbacks) > 0 && !f.extractive {
		err := fmt.Errorf("the model failed at %s, whose local form was used: %s", view.Counted(len(report.Fallbacks),
			"step"),
			report.Fallbacks[0])
		return view.Ended(view.Hint(err,
			"`nightdesk doctor --model` says whether it answers; --extractive does without it."), view.ExitPartial)
	}
	return nil
}

// replayModel gives r the configured model, if any, and counts its calls and tokens in result.
func replayModel(ctx context.Context, s *session, run topicqueue.Run, r *reporting.Reporter,
	result *replayResult) error {
	model, err := wiring.NewModel(s.cfg, nil, nil)
	if err != nil {
		return err
	}
	if model == nil { // a nil *Client in the interface would not be nil
		s.Say("no LLM_MODEL: the report is made of verbatim quotes")
		return nil
	}
	if err := checkModel(ctx, model, llm.Writer); err != nil {
		return err
	}
	var mu sync.Mutex
	r.Model = llm.Recorded(model, func(_ context.Context, u topicqueue.Usage) {
		mu.Lock()
		defer mu.Unlock()
		result.LLMCalls++
		result.PromptTokens += u.PromptTokens
		result.CompletionTokens += u.CompletionTokens
	})
	r.Model = llm.About(r.Model, func() llm.Background {
		return llm.Background{Language: run.Options.Language, Date: run.Date(time.Now()), UserInfo: run.Options.UserInfo,
			Length: run.Options.Length, Audience: run.Options.Audience}
	})
	result.Model = s.cfg.LLM.Writer.Name
	return nil
}

func printReplay(con *view.Console, r replayResult) error {
	if con.JSON {
		return con.PrintJSON(r, false)
	}
	if r.LLMCalls > 0 {
		con.Say("%d model calls, %d prompt and %d completion tokens", r.LLMCalls, r.PromptTokens, r.CompletionTokens)
	}
	if r.Report != "" {
		fmt.Fprintln(con.Out, r.Report)
		return nil
	}
	_, err := fmt.Fprint(con.Out, r.Markdown)
	return err
}
