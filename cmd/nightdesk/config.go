package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

func configCommand(p *program) *cobra.Command {
	var example bool
	cmd := &cobra.Command{
		Use: "config", Short: "Show the effective settings and where each comes from", Args: cobra.NoArgs,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if example {
				_, err := fmt.Fprint(p.Out, config.Example())
				return err
			}
			return showConfig(s)
		}),
	}
	cmd.Flags().BoolVar(&example, "example", false, "print a settings file with every setting, explained")
	return cmd
}

func showConfig(s *session) error {
	table := view.NewTable(s.Console, "SETTING", "VALUE", "SOURCE")
	for _, e := range s.cfg.Effective() {
		if err := table.Row(e, e.Path, e.Value, e.Source); err != nil {
			return err
		}
	}
	return table.End()
}
