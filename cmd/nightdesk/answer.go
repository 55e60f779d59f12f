package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/dialogue"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

func answerCommand(p *program) *cobra.Command {
	var skip bool
	cmd := &cobra.Command{
		Use:   "answer RUN [TEXT]",
		Short: "Answer the question that a run is waiting for",
		Long: `Answer the question that a run is waiting for. Without TEXT, the command shows the question and
reads the answer from standard input. The run then continues at once. With an empty answer or --skip
it continues without one.`,
		Args: cobra.MinimumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			text := strings.Join(args[1:], " ")
			if skip && text != "" {
				return view.Usage(errors.New("--skip continues without an answer: give no text"))
			}
			return s.withDesk(ctx, desk.OpenQueue, func(d *desk.Desk) error {
				return answerRun(ctx, s, d, args[0], text, skip)
			})
		}),
	}
	cmd.Flags().BoolVar(&skip, "skip", false, "continue the run without an answer")
	return cmd
}

// answered is the JSON document of `answer --json`.
type answered struct {
	RunID string `json:"run_id"`
	topicqueue.Question
	topicqueue.Reply
}

func answerRun(ctx context.Context, s *session, d *desk.Desk, name, text string, skip bool) (err error) {
	found, err := d.Find(ctx, name)
	if err != nil {
		return err
	}
	run := found.Run
	if name = run.ID; !found.Queued {
		return desk.Gone(run)
	}
	number, question := run.Waiting()
	if n := len(run.Dialogue); number == 0 && n > 0 { // repeating an answer has no further effect
		number, question = n, run.Dialogue[n-1]
	}
	if over := question.Outcome != ""; number == 0 || over && text == "" && !skip {
		return notAsked(run)
	}
	if text == "" && !skip {
		if text, err = readAnswer(s.Console, question); err != nil {
			return err
		}
	}
	reply, err := topicqueue.NewReply(text)
	if err != nil {
		return view.Usage(err)
	}
	err = tasks.Controls{Queue: d.Queue, Dispatcher: d.Dispatcher}.Answer(ctx, run, number, reply)
	if errors.Is(err, redisqueue.ErrStale) {
		if run, err = d.Queue.Run(ctx, name); err != nil {
			return err
		}
		return notAsked(run)
	}
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(answered{name, question.Question, reply}, false)
	}
	fmt.Fprintf(s.Out, "run %s: %s\n", name, reply.Outcome)
	return nil
}

// notAsked returns the error for a run that has no open question.
func notAsked(run topicqueue.Run) error {
	why := "it has asked nothing; it is " + string(run.State)
	if n := len(run.Dialogue); n > 0 {
		why = dialogue.Outcome(run, n)
	}
	return view.Usage(fmt.Errorf("run %s takes no answer: %s", run.ID, why))
}

// readAnswer reads an answer from standard input: one line on a terminal, otherwise everything.
func readAnswer(con *view.Console, q topicqueue.Exchange) (string, error) {
	in := io.LimitReader(con.In, maxLine)
	if !con.Interactive() {
		text, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("read the answer from standard input: %w", err)
		}
		return string(text), nil
	}
	if err := view.PrintLines(con.Err, []string{q.Question.Text}); err != nil {
		return "", err
	}
	fmt.Fprint(con.Err, "Your answer (press Enter to continue without one): ")
	text, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return text, nil
}
