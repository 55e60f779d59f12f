package dialogue

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
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
		how = "Press Enter to approve it, or type what to change. Ctrl-C ends the run."
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
	a.terminal.prompt(a.Console)
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(a.Console.Err)
			return context.Cause(ctx)
		case line, open := <-a.terminal.typed:
			a.terminal.reads = !open // at end of input, prevent further reads
			if !open {
				fmt.Fprintln(a.Console.Err)
			}
			err := a.give(ctx, run, number, line)
			if view.KindOf(err) != view.Misuse {
				return err
			}
			a.Console.Say("%v", err)
			a.terminal.prompt(a.Console)
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

// prompt asks for a single line and starts reading it. A blocked read cannot be cancelled, so its line answers the next
// question.
func (l *lines) prompt(con *view.Console) {
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
