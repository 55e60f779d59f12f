package main

import (
	"context"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/doctor"
)

func doctorCommand(p *program) *cobra.Command {
	var ask bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the configuration and its services, and explain how to fix problems", Args: cobra.NoArgs,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return doctor.Run(ctx, s.cfg, s.Console, ask)
		}),
	}
	cmd.Flags().BoolVar(&ask, "model", false, "send a short test question to the model of each role (costs a few tokens)")
	return cmd
}
