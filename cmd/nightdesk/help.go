package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

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
		ValidArgsFunction: completeHelp,
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
			return showText(p.Console, p.getenv, topic.Text)
		},
	}
}

// completeHelp returns the commands and topics that can follow.
func completeHelp(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	found, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, sub := range found.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name()+"\t"+sub.Short)
		}
	}
	if found == cmd.Root() {
		for _, t := range manual.Topics() {
			names = append(names, t.Name+"\t"+t.About)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
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

// maxTextColumns is the maximum width of tables on a terminal.
const maxTextColumns = 120

// showText shows Markdown in a pager if standard output is a terminal. Otherwise it prints the Markdown unchanged.
func showText(con *view.Console, getenv func(string) string, text string) error {
	terminal, ok := con.Out.(*os.File)
	if !ok || !view.IsTerminal(terminal) {
		_, err := io.WriteString(con.Out, text)
		return err
	}
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	text = layOutTables(text, min(width, maxTextColumns))
	if inPager(con, getenv, text) == nil {
		return nil
	}
	_, err = io.WriteString(terminal, text)
	return err
}

// inPager shows a text with $PAGER, or with less.
func inPager(con *view.Console, getenv func(string) string, text string) error {
	words := strings.Fields(getenv("PAGER"))
	if len(words) == 0 {
		words = []string{"less"}
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return err
	}
	pager := exec.Command(path, words[1:]...)
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), con.Out, con.Err
	if getenv("LESS") == "" {
		pager.Env = append(os.Environ(), "LESS=FRX") // exit if the text fits on the screen, and leave it there
	}
	if err := pager.Start(); err != nil {
		return err
	}
	_ = pager.Wait() // the text was shown, so the exit status of the pager does not matter
	return nil
}

// layOutTables formats the tables of a Markdown text for a terminal. Tables that fit get aligned columns. In wider
// tables, the last cell of each row goes below the others.
func layOutTables(text string, width int) string {
	var out strings.Builder
	var rows [][]string
	flush := func() {
		writeTable(&out, rows, width)
		rows = nil
	}
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(line, "|") {
			if !strings.HasPrefix(line, "|---") {
				rows = append(rows, tableCells(line))
			}
			continue
		}
		flush()
		out.WriteString(line)
	}
	flush()
	return out.String()
}

// tableCells returns the cells of a row.
func tableCells(line string) []string {
	line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00")
	cells := strings.Split(line, "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|"))
	}
	return cells
}

func writeTable(out *strings.Builder, rows [][]string, width int) {
	if len(rows) == 0 {
		return
	}
	var aligned strings.Builder
	table := tabwriter.NewWriter(&aligned, 0, 4, 2, ' ', 0)
	for _, cells := range rows {
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	_ = table.Flush() // into memory
	fits := true
	for line := range strings.Lines(aligned.String()) {
		fits = fits && view.Columns(strings.TrimSpace(line)) <= width
	}
	if fits {
		out.WriteString(aligned.String())
		return
	}
	for _, cells := range rows {
		last := len(cells) - 1
		out.WriteString(strings.Join(cells[:last], "  ") + "\n")
		for _, line := range view.Wrap(cells[last], width-4) {
			out.WriteString("    " + line + "\n")
		}
	}
}
