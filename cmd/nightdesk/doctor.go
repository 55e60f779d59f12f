package main

import (
	"context"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/doctor"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

func doctorCommand(p *program) *cobra.Command {
	var ask bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that everything that is configured works, and say what to do if not", Args: cobra.NoArgs,
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			return doctor.Run(ctx, cfg, con, ask)
		}),
	}
	cmd.Flags().BoolVar(&ask, "model", false, "ask the model of each role a tiny question, which costs a few tokens")
	return cmd
}
