package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/pipeline/reporting"
)

func stylesCommand(p *program) *cobra.Command {
	var language string
	cmd := &cobra.Command{
		Use: "styles [NAME]", Short: "List the built-in report templates, or print one",
		Args: cobra.MaximumNArgs(1),
		Long: `List the built-in report templates, or print one. Use it with --report-template NAME of run, enqueue
and schedule add, or change a copy:

  nightdesk styles comparison > mine.md
  nightdesk run "Heat pump or district heating?" --report-template mine.md

See "nightdesk help templates" for the format.`,
		RunE: p.command(func(_ context.Context, s *session, args []string) error {
			if len(args) == 0 {
				return listStyles(s.Console)
			}
			text, err := reporting.ShippedTemplate(args[0], language)
			if err != nil {
				return view.Usage(err)
			}
			_, err = fmt.Fprint(s.Out, text)
			return err
		}),
	}
	cmd.Flags().StringVar(&language, "language", "en", "en or zh")
	return cmd
}

func listStyles(con *view.Console) error {
	if con.JSON {
		return con.PrintJSON(reporting.ShippedTemplates(), true)
	}
	for _, name := range reporting.ShippedTemplates() {
		if _, err := fmt.Fprintln(con.Out, name); err != nil {
			return err
		}
	}
	return nil
}
