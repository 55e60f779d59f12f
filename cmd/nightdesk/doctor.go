package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk/health"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
)

func doctorCommand(p *program) *cobra.Command {
	var ask bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the configuration and its services, and explain how to fix problems", Args: cobra.NoArgs,
		RunE: p.command(func(ctx context.Context, s *session, args []string) (err error) {
			c := health.Checker{Config: s.Config, Console: s.Console, Ask: ask}
			if c.Desk, c.Away = wiring.OpenDesk(ctx, s.Config, s.Console, wiring.Attach); c.Away == nil {
				defer func() { err = errors.Join(err, c.Desk.Close()) }()
			}
			return printChecks(ctx, s.Console, c)
		}),
	}
	cmd.Flags().BoolVar(&ask, "model", false, "send a short test question to the model of each role (costs a few tokens)")
	return cmd
}

// printChecks makes all checks and prints their results. Its error says how many failed.
func printChecks(ctx context.Context, con *view.Console, c health.Checker) error {
	failed, width := 0, view.Width(con.Out)
	for check := range c.Look(ctx, health.All) {
		if check.Result == health.Failed {
			failed++
		}
		err := error(nil)
		if con.JSON {
			err = con.PrintJSON(check, true)
		} else {
			err = view.PrintLines(con.Out, view.Hanging(width, fmt.Sprintf("%-7s %-16s ", check.Result, check.Name),
				check.Text, check.Hint))
		}
		if err != nil {
			return err
		}
	}
	if failed > 0 {
		return view.Ended(fmt.Errorf("%s failed", view.Counted(failed, "check")), view.ExitFailed)
	}
	return nil
}
