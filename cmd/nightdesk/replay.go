package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/remake"
	"nightdesk/cmd/nightdesk/view"
)

func replayCommand(p *program) *cobra.Command {
	var r remake.ReplayRequest
	var template, out string
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use: "replay RUN", Short: "Write a run's report again from its stored evidence, without any search",
		Args: cobra.ExactArgs(1),
		Long: `Write a run's report again from its stored evidence, without searching: with the configured model
(LLM_MODEL, LLM_WRITER_MODEL), in another language, citation style or format, or with a template.
The stored report is not changed. The new one goes to standard output or to --out FILE.`,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if cmd.Flags().Changed("template") {
				r.Template = &template
			}
			return replay(ctx, s, args[0], r, out)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Language, "language", "", "language of the report (default: that of the run)")
	flags.StringVar(&r.CitationStyle, "citation-style", "", "anchors or numbered (default: that of the run)")
	flags.StringVar(&template, "template", "",
		"file with the sections of the report, or the name of a template (default: that of the run; \"\": none)")
	flags.StringVar(&r.Length, "length", "", "length of the report, in your own words: \"one page\"")
	flags.StringVar(&r.Audience, "audience", "", "readers of the report, in your own words: \"engineers who know "+
		"databases\"")
	flags.StringVar(&r.Format, "format", "md", "md, html or docx")
	flags.StringVar(&out, "out", "", "file for the report (default: standard output)")
	flags.BoolVar(&r.Extractive, "extractive", false, "write it from verbatim quotes only, without a model")
	return cmd
}

func replay(ctx context.Context, s *session, name string, r remake.ReplayRequest, out string) error {
	if r.Format != remake.Markdown && out == "" && (s.JSON || view.IsTerminal(s.Out)) {
		return view.Usage(fmt.Errorf("--format %s needs a file: --out FILE", r.Format))
	}
	var report remake.Replayed
	err := s.withRun(ctx, name, func(d *desk.Desk, runID string) (err error) {
		r.RunID = runID
		report, err = d.Remake().Replay(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	if out == "" {
		report.Markdown = string(report.Body)
	} else if err := os.WriteFile(out, report.Body, 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	report.Report = out
	if err := printReplay(s.Console, report); err != nil {
		return err
	}
	if n := len(report.Fallbacks); n > 0 && !r.Extractive {
		err := fmt.Errorf("the model failed at %s, whose local form was used: %s", view.Counted(n, "step"),
			report.Fallbacks[0])
		return view.Ended(view.Hint(err,
			"`nightdesk doctor --model` says whether it answers; --extractive does without it."), view.ExitPartial)
	}
	return nil
}

func printReplay(con *view.Console, r remake.Replayed) error {
	if r.LLMCalls > 0 && !con.JSON {
		con.Say("%d model calls, %d prompt and %d completion tokens", r.LLMCalls, r.PromptTokens, r.CompletionTokens)
	}
	text := r.Markdown
	if r.Report != "" {
		text = r.Report + "\n"
	}
	return con.Result(r, "%s", text)
}
