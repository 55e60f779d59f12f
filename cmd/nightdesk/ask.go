package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

func askCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ask RUN [QUESTION]", Short: "Ask about a report: answered from its evidence, with citations",
		Long: `Ask about a report. The answer uses the texts that the run has read, and the run's other tools if
these texts do not suffice. It cites its sources, is checked like a report, and can refer to earlier
questions and answers. Without QUESTION, on a terminal, the command asks for one question after
another until an empty line.`,
		Args: cobra.MinimumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return askAbout(ctx, s, args[0], strings.Join(args[1:], " "))
		}),
	}
	p.settingFlag(cmd.Flags(), "kb", "kb_name", "knowledge base to search besides the run's evidence (default: "+
		"that of the run)")
	p.settingFlag(cmd.Flags(), "duration", "limits.run_duration", "maximum duration of an answer, such as 2m")
	p.settingFlag(cmd.Flags(), "budget", "limits.run_budget",
		"budget of an answer for models: US dollars such as 0.50, or tokens such as \"100k tokens\"")
	return cmd
}

// askAbout answers one question, or all questions that the user types at the terminal.
func askAbout(ctx context.Context, s *session, name, question string) error {
	var about topicqueue.Run
	err := s.withDesk(ctx, desk.OpenStored, func(d *desk.Desk) (err error) {
		about, err = d.Reported(ctx, desk.RunRequest{RunID: name})
		return err
	})
	if err != nil {
		return err
	}
	r := desk.AskRequest{RunRequest: desk.RunRequest{RunID: about.ID}, Question: question}
	if question != "" {
		return ask(ctx, s, r)
	}
	if !view.IsTerminal(s.Out) {
		return view.Usage(fmt.Errorf("there is no question: nightdesk ask %s \"...\"", name))
	}
	fmt.Fprintf(s.Err, "Questions about: %s\nAn empty line ends.\n", topicqueue.OneLine(about.Topic))
	lines := bufio.NewScanner(s.In)
	for {
		fmt.Fprint(s.Err, "\n> ")
		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			return lines.Err()
		}
		r.Question = lines.Text()
		err := ask(ctx, s, r)
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // continue: the next question may succeed
			s.Say("%v", err)
		}
	}
}

// ask answers one question about a run and prints the answer.
func ask(ctx context.Context, s *session, r desk.AskRequest) error {
	if !s.Config.LLM.Enabled() {
		return quote(ctx, s, r)
	}
	answer, err := answerHere(ctx, s, r)
	if err != nil {
		return err
	}
	return s.Result(answer, "%s\n", answer.Answer)
}

// answerHere answers a question in this process.
func answerHere(ctx context.Context, s *session, r desk.AskRequest) (out desk.Asked, err error) {
	r.Own = true
	err = workHere(ctx, s, func(d *desk.Desk) (string, error) {
		run, err := d.Ask(ctx, r)
		return run.RunID, err
	}, func(d *desk.Desk, run desk.RunRequest) (err error) {
		out, err = d.Asked(ctx, run)
		return err
	})
	return out, err
}

// quote answers a question without a model: it prints the passages of the run's evidence that match best.
func quote(ctx context.Context, s *session, r desk.AskRequest) error {
	return s.withDesk(ctx, desk.OpenStored, func(d *desk.Desk) error {
		found, err := d.Quote(ctx, r)
		switch {
		case err != nil:
			return err
		case s.JSON:
			return s.PrintJSON(found, false)
		case len(found.Sources) == 0:
			return view.Hint(fmt.Errorf("no text of run %s contains a word of the question", found.Follows),
				"Rephrase the question, or research it with `nightdesk run`.")
		}
		s.Say("no LLM_MODEL: these are the passages that match best, quoted; no model judged whether they answer")
		for i, source := range found.Sources {
			title := cmp.Or(source.Title, source.Document, source.URL)
			fmt.Fprintf(s.Out, "[%d] %s\n\n%s\n\n", i+1, strings.Join(append([]string{title}, source.Section...), " › "),
				topicqueue.Printable(source.Text))
		}
		return nil
	})
}
