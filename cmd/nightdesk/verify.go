package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/foreign"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
)

func verifyCommand(p *program) *cobra.Command {
	var f foreign.Report
	cmd := &cobra.Command{
		Use: "verify RUN | verify --report FILE.md --sources FILE.jsonl",
		Short: "Check offline that a run's files are unchanged and its citations hold; or check the citations of a report " +
			"from elsewhere",
		Long: `verify RUN checks offline that a run's files are unchanged and that its quotes and citations hold.

verify --report FILE.md --sources FILE.jsonl checks every citation of a Markdown report from
elsewhere. Citations without a source are removed and the verified report is printed. Each source is
a JSON object with url or citation_key, and title and text if known. - stands for standard input.

Exit codes with --report: 0 every citation is valid, 3 something was removed, 1 no citation is
valid, 2 wrong use.`,
		Args: cobra.MaximumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if f.File != "" || f.Sources != "" {
				if len(args) > 0 {
					return view.Usage(errors.New("verify takes a run or a report, not both"))
				}
				return f.Verify(ctx, s.Config, s.Console)
			}
			if len(args) == 0 {
				return view.Usage(view.Hint(errors.New("verify needs a run, or a report and its sources"),
					"nightdesk verify RUN, or nightdesk verify --report report.md --sources sources.jsonl"))
			}
			return verifyBundle(ctx, s, args[0])
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.File, "report", "", "Markdown file with the report")
	flags.StringVar(&f.Sources, "sources", "", "file with the sources, one JSON object per line")
	flags.BoolVar(&f.Listed, "numbered-sources", false,
		"[1] is the first source, and so on; adds a reference list if the report has none")
	flags.BoolVar(&f.NoSupport, "no-support", false, "do not compare sentences with their sources")
	flags.BoolVar(&f.Judge, "judge", false,
		"ask the configured model (LLM_JUDGE_MODEL, else LLM_MODEL) whether they do; else only quotations and figures "+
			"are compared")
	cmd.MarkFlagsMutuallyExclusive("no-support", "judge")
	return cmd
}

// verifyBundle verifies the bundle of a run with the files in storage alone.
func verifyBundle(ctx context.Context, s *session, name string) error {
	var check bundle.Check
	var runID string
	err := s.withRun(ctx, name, func(d *desk.Desk, id string) (err error) {
		runID = id
		check, err = d.Verify(ctx, desk.RunRequest{RunID: id})
		return err
	})
	if err != nil {
		return err
	}
	if s.JSON {
		if err := s.PrintJSON(check, false); err != nil {
			return err
		}
	} else {
		for _, p := range check.Problems {
			fmt.Fprintf(s.Out, "%s %s\n", p.File, p.What)
		}
		fmt.Fprintf(s.Out,
			"%s: %d files, %d claims of %d sources among %d that tools returned, %d citations, %d sentences with citations: ",
			runID, check.Files, check.Claims, check.Sources, check.Returned, check.Citations, check.Sentences)
		if len(check.Problems) == 0 {
			fmt.Fprintln(s.Out, "no problems found")
		} else {
			fmt.Fprintln(s.Out, view.Counted(len(check.Problems), "problem"))
		}
	}
	if check.Otherwise > 0 {
		s.Say("%s checked by another version's rules get other verdicts by this version's rules; this is not a "+
			"fault",
			view.Counted(check.Otherwise, "sentence"))
	}
	if len(check.Problems) > 0 {
		return view.Ended(errors.New("the files do not match what the bundle records; the lines above say where"),
			view.ExitFailed)
	}
	return nil
}
