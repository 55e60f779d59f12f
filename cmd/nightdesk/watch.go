package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/watch"
)

func watchCommand(p *program) *cobra.Command {
	var from int64
	cmd := &cobra.Command{
		Use:   "watch [RUN|BATCH]",
		Short: "Watch a run or a batch until it has ended",
		Long: `Watch a run or a batch until it ends; by default the newest batch. A terminal shows live bars; other
outputs get plain lines. --json prints the runs' messages, one per line; --from continues after the
message with this number.

Exit codes: 0 completed, 1 failed, cancelled or stopped with Ctrl-C, 2 wrong use, 3 partial result.`,
		Args: cobra.MaximumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if from < 0 {
				return view.Usage(fmt.Errorf("--from %d: messages are numbered from 1; 0 means all", from))
			}
			name := slices.Concat(args, []string{""})[0]
			return s.withDesk(ctx, desk.Open, func(d *desk.Desk) error {
				return watch.Name(ctx, d, name, from)
			})
		}),
	}
	cmd.Flags().Int64Var(&from, "from", 0, "continue after the message with this number (one run)")
	p.settingFlag(cmd.Flags(), "return-intermediate-results", "watch.return_intermediate_results",
		"false: --json prints only results, questions and the end of each run (default true)")
	return cmd
}
