package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/cmd/nightdesk/view"
)

func helpCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Show help for a command, or a topic of the manual",
		Long: `Show help for a command, or print a topic of the manual. Without an argument, list the commands and
the topics.

On a terminal a topic is shown with $PAGER, or with less. Elsewhere it is printed as Markdown.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listHelp(p.Out, cmd.Root())
			}
			if found, _, err := cmd.Root().Find(args); err == nil {
				found.InitDefaultHelpFlag()
				return found.Help()
			}
			topic, ok := manual.Find(strings.Join(args, " "))
			if !ok {
				err := fmt.Errorf("no command or topic is called %q", strings.Join(args, " "))
				return view.Usage(view.Hint(err, "`nightdesk help` lists the commands and the topics."))
			}
			return view.ShowText(p.Console, p.getenv, topic.Text)
		},
	}
}

// listHelp prints the help of the program and the topics of the manual.
func listHelp(out io.Writer, root *cobra.Command) error {
	if err := root.Help(); err != nil {
		return err
	}
	fmt.Fprint(out, "\nTopics of the manual, for `nightdesk help TOPIC`:\n")
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, t := range manual.Topics() {
		fmt.Fprintf(table, "  %s\t%s\n", t.Name, t.About)
	}
	return table.Flush()
}
