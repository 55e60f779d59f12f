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
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
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
			r := desk.AnswerRequest{RunRequest: desk.RunRequest{RunID: args[0]}, Text: strings.Join(args[1:], " ")}
			if skip && r.Text != "" {
				return view.Usage(errors.New("--skip continues without an answer: give no text"))
			}
			return s.withDesk(ctx, desk.OpenQueue, func(d *desk.Desk) error {
				return answerRun(ctx, s, d, r, skip)
			})
		}),
	}
	cmd.Flags().BoolVar(&skip, "skip", false, "continue the run without an answer")
	return cmd
}

func answerRun(ctx context.Context, s *session, d *desk.Desk, r desk.AnswerRequest, skip bool) error {
	if r.Text == "" && !skip {
		question, number, err := d.Waiting(ctx, r.RunRequest)
		if err != nil {
			return err
		}
		r.Number = number
		if r.Text, err = readAnswer(s.Console, question); err != nil {
			return err
		}
	}
	done, err := d.Answer(ctx, r)
	if err != nil {
		return err
	}
	return s.Result(done, "run %s: %s\n", done.RunID, done.Outcome)
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
