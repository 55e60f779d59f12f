package main

import (
	"context"
	"errors"

	"nightdesk/cmd/nightdesk/view"

	"github.com/spf13/cobra"
)

func verifyCommand(p *program) *cobra.Command {
	var foreign foreignReport
	cmd := &cobra.Command{
		Use: "verify RUN | verify --report FILE.md --sources FILE.jsonl",
		Short: "Check offline that a run's files are unchanged and its citations hold; or check the citations of a report " +
			"from elsewhere",
		Long: `verify RUN checks offline that a run's files are unchanged and that its quotes and citations hold.

verify --report FILE.md --sources FILE.jsonl checks every citation of a Markdown report from
elsewhere against a list of sources. Citations without a source are removed and the verified report
is printed. Removals and their reasons go to standard error. With --json, the output is one
document. Each line of the sources is a JSON object with url or citation_key ("handbook.pdf, p.
15"), and title and text if known. - stands for standard input.

Exit codes with --report: 0 every citation is valid, 3 something was removed, 1 no citation is
valid, 2 wrong use.`,
		Args: cobra.MaximumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if foreign.given() {
				if len(args) > 0 {
					return view.Usage(errors.New("verify takes a run or a report, not both"))
				}
				return verifyReport(ctx, s, foreign)
			}
			if len(args) == 0 {
				return view.Usage(view.Hint(errors.New("verify needs a run, or a report and its sources"),
					"nightdesk verify RUN, or nightdesk verify --report report.md --sources sources.jsonl"))
			}
			return verifyBundle(ctx, s, args[0])
		}),
	}
	foreign.flags(cmd)
	return cmd
}
