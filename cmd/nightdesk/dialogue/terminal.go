package dialogue

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/pipeline/planning"
	"nightdesk/topicqueue"
)

// A question that is shown is looked up again after a pause, because it can be answered elsewhere.
const (
	questionPause = 500 * time.Millisecond
	questionTime  = 3 * time.Second // timeout of one look
)

// askTerminal shows a question and waits for a line, an answer from elsewhere, or the end of the waiting time.
func (a *Asker) askTerminal(ctx context.Context, run topicqueue.Run, number int, q topicqueue.Exchange) error {
	lines := []string{"", "Before the research begins:", ""}
	how := "Press Enter to continue without an answer. Ctrl-C ends the run."
	if q.Kind == topicqueue.AskPlan {
		lines[1] = "The research is planned so:"
		how = "Press Enter to approve it or e to edit it, or type what to change. Ctrl-C ends the run."
	}
	for line := range strings.Lines(q.Question.Text) {
		lines = append(lines, "  "+strings.TrimRight(line, " \n"))
	}
	if !q.Until.IsZero() {
		how += " The run waits until " + q.Until.Local().Format("15:04:05") + "."
	}
	if err := view.PrintLines(a.Console.Err, append(lines, "", how)); err != nil {
		return err
	}
	a.terminal.prompt(a.Console, true)
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(a.Console.Err)
			return context.Cause(ctx)
		case line, open := <-a.terminal.typed:
			err := error(nil)
			a.terminal.reads = !open // at end of input, prevent further reads
			if !open {
				fmt.Fprintln(a.Console.Err)
			}
			if q.Kind == topicqueue.AskPlan && strings.TrimSpace(line) == "e" {
				line, err = edited(ctx, a.Console, q.Question.Text)
			}
			if err == nil {
				if err = a.give(ctx, run, number, line); view.KindOf(err) != view.Misuse {
					return err
				}
			}
			a.Console.Say("%v", err)
			a.terminal.prompt(a.Console, false)
		case <-time.After(questionPause):
		}
		lookCtx, cancel := context.WithTimeout(ctx, questionTime)
		now, err := a.Desk.Queue.Run(lookCtx, run.ID)
		cancel()
		if waits, _ := now.Waiting(); err == nil && waits != number {
			fmt.Fprintln(a.Console.Err)
			a.Console.Say("%s", desk.Outcome(now, number))
			return nil
		}
	}
}

// lines are the lines that a person types.
type lines struct {
	typed chan string // closed at end of input
	scan  *bufio.Scanner
	reads bool // a goroutine is reading a line into typed
}

// prompt asks for a single line and starts reading it; reading more would take input from an editor. A blocked read
// cannot be cancelled, so its line answers the next question. first: discard what was typed before the question.
func (l *lines) prompt(con *view.Console, first bool) {
	if f, ok := con.In.(*os.File); ok && first && !l.reads {
		dropTyped(f)
	}
	fmt.Fprint(con.Err, "Your answer: ")
	if l.typed == nil {
		l.typed, l.scan = make(chan string), bufio.NewScanner(con.In)
	} else if l.reads {
		return
	}
	l.reads = true
	go func() {
		if !l.scan.Scan() {
			close(l.typed)
			return
		}
		l.typed <- l.scan.Text()
	}()
}

// edited opens a text in the editor named by VISUAL or EDITOR and returns the result, or "" if it is unchanged.
func edited(ctx context.Context, con *view.Console, text string) (string, error) {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	f, err := os.CreateTemp("", "nightdesk-plan-*.md")
	if err != nil {
		return "", fmt.Errorf("make a file for the editor: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write the plan for the editor: %w", err)
	}
	// As usual, the setting is a shell command line; the file is its last argument.
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", f.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = con.In, con.Err, con.Err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run the editor %q: %w; set EDITOR to an installed one", editor, err)
	}
	body, err := os.ReadFile(f.Name())
	if err != nil {
		return "", fmt.Errorf("read the edited file: %w", err)
	}
	if string(body) == text {
		return "", nil
	}
	if _, err := planning.ParseShown(string(body)); err != nil {
		return "", fmt.Errorf("the plan cannot be used: %w", err)
	}
	return string(body), nil
}
