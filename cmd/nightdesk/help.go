package main

import (
	"fmt"
	"io"
	"strings"

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
`,
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
			_, err := io.WriteString(p.Out, topic.Text)
			return err
		},
	}
}

// listHelp prints the help of the program and the topics of the manual.
func listHelp(out io.Writer, root *cobra.Command) error {
	if err := root.Help(); err != nil {
		return err
	}
	fmt.Fprint(out, "\nTopics of the manual, for `nightdesk help TOPIC`:\n")
	var rows [][]string
	for _, t := range manual.Topics() {
		rows = append(rows, []string{"  " + t.Name, t.About})
	}
	return view.PrintLines(out, view.Align(rows))
}
