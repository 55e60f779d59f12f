package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

func configCommand(p *program) *cobra.Command {
	var example bool
	cmd := &cobra.Command{
		Use: "config", Short: "Show the effective settings and where each comes from", Args: cobra.NoArgs,
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			if example {
				_, err := fmt.Fprint(p.Out, config.Example())
				return err
			}
			return showConfig(cfg, con)
		}),
	}
	cmd.Flags().BoolVar(&example, "example", false, "print a settings file with every setting, explained")
	return cmd
}

func showConfig(cfg config.Config, con *view.Console) error {
	table := tabwriter.NewWriter(con.Out, 0, 4, 2, ' ', 0)
	if !con.JSON {
		fmt.Fprintln(table, "SETTING\tVALUE\tSOURCE")
	}
	for _, e := range cfg.Effective() {
		if con.JSON {
			if err := con.PrintJSON(e, true); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", e.Path, e.Value, e.Source)
	}
	return table.Flush()
}
