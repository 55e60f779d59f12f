package view

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"
)

// maxTextColumns is the maximum width of tables on a terminal.
const maxTextColumns = 120

// ShowText shows Markdown in a pager if standard output is a terminal. Otherwise it prints the Markdown unchanged.
func ShowText(con *Console, getenv func(string) string, text string) error {
	terminal, ok := con.Out.(*os.File)
	if !ok || !IsTerminal(terminal) {
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
func inPager(con *Console, getenv func(string) string, text string) error {
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
		fits = fits && Columns(strings.TrimSpace(line)) <= width
	}
	if fits {
		out.WriteString(aligned.String())
		return
	}
	for _, cells := range rows {
		last := len(cells) - 1
		out.WriteString(strings.Join(cells[:last], "  ") + "\n")
		for _, line := range Wrap(cells[last], width-4) {
			out.WriteString("    " + line + "\n")
		}
	}
}
