package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/pipeline/reporting/template"
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
				all := template.Names()
				return s.Row(all, "%s\n", strings.Join(all, "\n"))
			}
			text, err := template.Text(args[0], language)
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
