package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/bundle"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// maxEarlier is the maximum number of earlier questions and answers that a question is asked with.
const maxEarlier = 6

// askedBatch returns the prefix of the names of the batches that hold the questions about a run. Each question has its
// own batch.
func askedBatch(runID string) string { return "ask_" + runID + "_" }

func askCommand(p *program) *cobra.Command {
	var f intake.Flags
	cmd := &cobra.Command{
		Use: "ask RUN [QUESTION]", Short: "Ask about a report: answered from its evidence, with citations",
		Long: `Ask about a report. The answer uses the texts that the run has read, and the run's other tools if
these texts do not suffice. It cites its sources, is checked like a report, and can refer to earlier
questions and answers. Without QUESTION, on a terminal, the command asks for one question after
another until an empty line.`,
		Args: cobra.MinimumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return askAbout(ctx, s, args[0], strings.Join(args[1:], " "), f)
		}),
	}
	p.settingFlag(cmd.Flags(), "kb", "kb_name", "knowledge base to search besides the run's evidence (default: "+
		"that of the run)")
	p.settingFlag(cmd.Flags(), "duration", "limits.run_duration", "maximum duration of an answer, such as 2m")
	budgetFlags(p, cmd)
	return cmd
}

// askAbout answers one question, or all questions that the user types at the terminal.
func askAbout(ctx context.Context, s *session, name, question string, f intake.Flags) error {
	about, err := storedRun(ctx, s, name)
	if err != nil {
		return err
	}
	if question != "" {
		return ask(ctx, s, about, question, f)
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
		err := ask(ctx, s, about, lines.Text(), f)
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // continue: the next question may succeed
			s.Say("%v", err)
		}
	}
}

// storedRun returns a run in storage that has a report.
func storedRun(ctx context.Context, s *session, name string) (run topicqueue.Run, err error) {
	store, id, err := s.openRun(ctx, name)
	if err != nil {
		return run, err
	}
	run, err = bundle.Archive{Store: store}.Run(ctx, id)
	if errors.Is(err, bundle.ErrNoBundle) || err == nil && run.Report == "" {
		return run, view.Usage(view.Hint(fmt.Errorf("there is no report of run %q in %s", id, store.Location("reports")),
			"`nightdesk status RUN` says how far a run is, `nightdesk list` shows all of them."))
	}
	return run, err
}

// ask answers one question about a run and prints the answer.
func ask(ctx context.Context, s *session, about topicqueue.Run, question string, f intake.Flags) error {
	if !s.cfg.LLM.Enabled() {
		return quoteEvidence(ctx, s, about, question)
	}
	cfg, err := s.load(askedSettings(ctx, s, about))
	if err != nil {
		return err
	}
	f.Follows = true
	return workTopic(ctx, s.with(cfg), question, f, working{
		batch: askedBatch(about.ID),
		prepare: func(ctx context.Context, d *wiring.Desk, store storage.Store, o *topicqueue.Options) error {
			return askedOptions(ctx, d, store, about, o)
		},
		show: func(result desk.RunDetail, report []byte) error {
			if s.JSON {
				return s.PrintJSON(struct {
					desk.RunDetail
					Follows string `json:"follows"`
					Answer  string `json:"answer"` // Markdown with its references
				}{result, about.ID, answerOf(report)}, false)
			}
			_, err := fmt.Fprintln(s.Out, answerOf(report))
			return err
		},
	})
}

// askedSettings returns the settings for a question about a run.
func askedSettings(ctx context.Context, s *session, about topicqueue.Run) map[string]string {
	settings := map[string]string{"preset": "shallow", "language": about.Options.Language}
	if !s.cfg.Given("kb_name") {
		settings["kb_name"] = about.Options.KnowledgeBase
		if _, _, err := newBases(s).Find(ctx, about.Options.KnowledgeBase); err != nil { // removed, or elsewhere
			settings["kb_name"] = ""
		}
	}
	return settings
}

// askedOptions sets the options that a question about a run needs.
func askedOptions(ctx context.Context, d *wiring.Desk, store storage.Store, about topicqueue.Run,
	o *topicqueue.Options) (err error) {
	o.Follows, o.HumanInTheLoop, o.Formats, o.Audio = about.ID, false, nil, topicqueue.AudioNone
	o.Tools = append([]string{tools.NameReportEvidence}, o.Tools...)
	o.Earlier, err = earlierAsked(ctx, d, store, about.ID)
	return err
}

// apiQuestions enqueues questions about reports with high priority, so that workers answer them before other research.
type apiQuestions struct {
	*session
	desk  *wiring.Desk
	store storage.Store
}

// ask implements api.Services.Ask.
func (q apiQuestions) ask(ctx context.Context, about topicqueue.Run, question string) (run topicqueue.Run, err error) {
	if !q.cfg.LLM.Enabled() {
		return run, view.Usage(view.Hint(errors.New("without LLM_MODEL no question is answered"),
			"Use /v1/search to find passages, or set LLM_MODEL for nightdesk serve and the workers."))
	}
	cfg, err := q.load(askedSettings(ctx, q.session, about))
	if err != nil {
		return run, err
	}
	kb, _, err := newBases(q.with(cfg)).Find(ctx, cfg.KBName)
	if err != nil {
		return run, err
	}
	options, err := intake.Flags{Follows: true}.Options(cfg, kb)
	if err != nil {
		return run, err
	}
	if err := askedOptions(ctx, q.desk, q.store, about, &options); err != nil {
		return run, err
	}
	now := q.desk.Clock.Now()
	batch, err := (&desk.Desk{Desk: q.desk}).OpenBatch(ctx, desk.NewBatchName(askedBatch(about.ID), now), now)
	if err != nil {
		return run, err
	}
	sub, err := q.desk.Dispatcher.Enqueue(ctx, q.desk.Queue, batch, question, options, tasks.LaneHigh, now)
	return sub.Run, err
}

// answerOf returns a report without its title and head, which repeat the question.
func answerOf(report []byte) string {
	text := string(report)
	if title, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(title, "# ") {
		text = strings.TrimLeft(rest, "\n")
	}
	for strings.HasPrefix(text, ">") && !strings.HasPrefix(text, "> **") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.TrimSpace(text)
}

// earlierAsked returns the last questions about a run that have a published answer, oldest first, at most maxEarlier.
func earlierAsked(ctx context.Context, d *wiring.Desk, store storage.Store, runID string) ([]topicqueue.FollowUp,
	error) {
	batches, err := d.Queue.Batches(ctx)
	if err != nil {
		return nil, err
	}
	var out []topicqueue.FollowUp
	for _, b := range slices.Backward(batches) {
		if !strings.HasPrefix(b.Name, askedBatch(runID)) || len(out) == maxEarlier {
			continue
		}
		err := d.Queue.Runs(ctx, b.Name, func(run topicqueue.Run) error {
			if run.Report == "" || run.PublishedAt.IsZero() {
				return nil
			}
			report, err := store.Get(ctx, run.Report)
			if errors.Is(err, storage.ErrNotExist) { // purged meanwhile
				return nil
			}
			out = append(out, topicqueue.FollowUp{Question: run.Topic, Answer: bundle.Body(string(report))})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Reverse(out)
	return out, nil
}

// quoteEvidence answers a question without a model: it prints the passages of the run's evidence that match best.
func quoteEvidence(ctx context.Context, s *session, about topicqueue.Run, question string) error {
	store, err := wiring.OpenStore(ctx, s.cfg)
	if err != nil {
		return err
	}
	sources, err := bundle.Sources(ctx, store, about.ID)
	if err != nil {
		return err
	}
	const most = 3
	found, err := tools.NewReportEvidence(sources, most).Call(ctx, tools.Call{Query: question})
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(map[string]any{"follows": about.ID, "answer": found.Text, "sources": found.Sources}, false)
	}
	if len(found.Sources) == 0 {
		return view.Hint(fmt.Errorf("no text of run %s contains a word of the question", about.ID),
			"Rephrase the question, or research it with `nightdesk run`.")
	}
	s.Say("no LLM_MODEL: these are the passages that match best, quoted; no model judged whether they answer")
	for i, source := range found.Sources {
		where := strings.Join(append([]string{cmp.Or(source.Title, source.Document, source.URL)}, source.Section...), " › ")
		if _, err := fmt.Fprintf(s.Out, "[%d] %s\n\n%s\n\n", i+1, where, topicqueue.Printable(source.Text)); err != nil {
			return err
		}
	}
	return nil
}
