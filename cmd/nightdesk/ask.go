package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
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
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			return askAbout(ctx, cfg, con, args[0], strings.Join(args[1:], " "), f, p.load)
		}),
	}
	p.settingFlag(cmd, false, "kb", "kb_name", "knowledge base to search besides the run's evidence (default: "+
		"that of the run)")
	p.settingFlag(cmd, false, "duration", "limits.run_duration", "maximum duration of an answer, such as 2m")
	budgetFlags(p, cmd)
	return cmd
}

// askAbout answers one question, or all questions that the user types at the terminal.
func askAbout(ctx context.Context, cfg config.Config, con *view.Console, name, question string, f intake.Flags,
	load loader) error {
	about, err := storedRun(ctx, cfg, name)
	if err != nil {
		return err
	}
	if question != "" {
		return ask(ctx, cfg, con, about, question, f, load)
	}
	if !view.IsTerminal(con.Out) {
		return view.Usage(fmt.Errorf("there is no question: nightdesk ask %s \"...\"", name))
	}
	fmt.Fprintf(con.Err, "Questions about: %s\nAn empty line ends.\n", topicqueue.OneLine(about.Topic))
	lines := bufio.NewScanner(con.In)
	for {
		fmt.Fprint(con.Err, "\n> ")
		if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
			return lines.Err()
		}
		err := ask(ctx, cfg, con, about, lines.Text(), f, load)
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // continue: the next question may succeed
			con.Say("%v", err)
		}
	}
}

// storedRun returns a run in storage that has a report.
func storedRun(ctx context.Context, cfg config.Config, name string) (run topicqueue.Run, err error) {
	id, err := fullID(ctx, cfg, nil, name)
	if err != nil {
		return run, err
	}
	store, err := wiring.OpenStore(ctx, cfg)
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
func ask(ctx context.Context, cfg config.Config, con *view.Console, about topicqueue.Run, question string,
	f intake.Flags, load loader) error {
	if !cfg.LLM.Enabled() {
		return quoteEvidence(ctx, cfg, con, about, question)
	}
	cfg, err := load(askedSettings(ctx, cfg, con, about))
	if err != nil {
		return err
	}
	f.Follows = true
	return workTopic(ctx, cfg, con, question, f, working{
		batch: askedBatch(about.ID),
		prepare: func(ctx context.Context, d *wiring.Desk, store storage.Store, o *topicqueue.Options) error {
			return askedOptions(ctx, d, store, about, o)
		},
		show: func(con *view.Console, result runResult, report []byte) error {
			if con.JSON {
				return con.PrintJSON(struct {
					runResult
					Follows string `json:"follows"`
					Answer  string `json:"answer"` // Markdown with its references
				}{result, about.ID, answerOf(report)}, false)
			}
			_, err := fmt.Fprintln(con.Out, answerOf(report))
			return err
		},
	})
}

// askedSettings returns the settings for a question about a run.
func askedSettings(ctx context.Context, cfg config.Config, con *view.Console,
	about topicqueue.Run) map[string]string {
	settings := map[string]string{"preset": "shallow", "language": about.Options.Language}
	if !cfg.Given("kb_name") {
		settings["kb_name"] = about.Options.KnowledgeBase
		if _, _, err := newBases(cfg, con).find(ctx, about.Options.KnowledgeBase); err != nil { // removed, or elsewhere
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
	cfg   config.Config
	con   *view.Console
	desk  *wiring.Desk
	store storage.Store
	load  loader
}

// ask implements api.Services.Ask.
func (q apiQuestions) ask(ctx context.Context, about topicqueue.Run, question string) (run topicqueue.Run, err error) {
	if !q.cfg.LLM.Enabled() {
		return run, refused(view.Usage(view.Hint(errors.New("without LLM_MODEL no question is answered"),
			"Use /v1/search to find passages, or set LLM_MODEL for nightdesk serve and the workers.")))
	}
	cfg, err := q.load(askedSettings(ctx, q.cfg, q.con, about))
	if err != nil {
		return run, refused(err)
	}
	kb, _, err := newBases(cfg, q.con).find(ctx, cfg.KBName)
	if err != nil {
		return run, refused(err)
	}
	options, err := intake.Flags{Follows: true}.Options(cfg, kb)
	if err != nil {
		return run, refused(err)
	}
	if err := askedOptions(ctx, q.desk, q.store, about, &options); err != nil {
		return run, err
	}
	now := q.desk.Clock.Now()
	name := askedBatch(about.ID) + now.UTC().Format("20060102_150405") + "_" + strings.ToLower(rand.Text()[:6])
	created, err := q.desk.Queue.OpenBatch(ctx, name, now)
	if err != nil {
		return run, err
	}
	batch := redisqueue.Batch{Name: name, CreatedAt: created}
	sub, err := q.desk.Dispatcher.Enqueue(ctx, q.desk.Queue, batch, question, options, jobs.LaneHigh, now)
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
func quoteEvidence(ctx context.Context, cfg config.Config, con *view.Console, about topicqueue.Run,
	question string) error {
	store, err := wiring.OpenStore(ctx, cfg)
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
	if con.JSON {
		return con.PrintJSON(map[string]any{"follows": about.ID, "answer": found.Text, "sources": found.Sources}, false)
	}
	if len(found.Sources) == 0 {
		return view.Hint(fmt.Errorf("no text of run %s contains a word of the question", about.ID),
			"Rephrase the question, or research it with `nightdesk run`.")
	}
	con.Say("no LLM_MODEL: these are the passages that match best, quoted; no model judged whether they answer")
	for i, s := range found.Sources {
		where := strings.Join(append([]string{cmp.Or(s.Title, s.Document, s.URL)}, s.Section...), " › ")
		if _, err := fmt.Fprintf(con.Out, "[%d] %s\n\n%s\n\n", i+1, where, topicqueue.Printable(s.Text)); err != nil {
			return err
		}
	}
	return nil
}
