package main

import (
	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "verify RUN", Short: "Prove the bundle of a run again, offline: every file, quote and citation", Args: cobra.ExactArgs(1),
		RunE: a.command(func(cmd *cobra.Command, args []string) error {
			return a.verifyBundle(cmd.Context(), args[0])
		}),
	}
}
