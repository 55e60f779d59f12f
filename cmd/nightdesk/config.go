package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nightdesk/config"
)

func (a *app) configCommand() *cobra.Command {
	var example bool
	cmd := &cobra.Command{
		Use: "config", Short: "Show the effective settings and where each comes from", Args: cobra.NoArgs,
		RunE: a.command(func(*cobra.Command, []string) error {
			if example {
				_, err := fmt.Fprint(a.stdout, config.Example())
				return err
			}
			return a.showConfig()
		}),
	}
	cmd.Flags().BoolVar(&example, "example", false, "print a settings file with every setting, explained")
	return cmd
}

func (a *app) showConfig() error {
	table := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	if !a.json {
		fmt.Fprintln(table, "SETTING\tVALUE\tSOURCE")
	}
	for _, e := range a.cfg.Effective() {
		if a.json {
			if err := a.printJSON(e, true); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", e.Path, e.Value, e.Source)
	}
	return table.Flush()
}
