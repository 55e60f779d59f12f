package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// maxEarlier is the maximum number of earlier questions and answers that a question is asked with.
const maxEarlier = 6

// ErrNoModel refuses a question about a report, because no model is configured. [Desk.Quote] needs none.
var ErrNoModel = errors.New("without LLM_MODEL no question is answered")

// AskRequest is a question about a report.
type AskRequest struct {
	RunRequest
	Question string `json:"question"`
	Own      bool   `json:"-"` // a worker of this process answers it; no other does
}

// Asked is a question about a report, with its answer.
type Asked struct {
	RunDetail
	Follows string `json:"follows"`
	Answer  string `json:"answer"` // Markdown with its references
}

// Quoted are the passages of a run's evidence that match a question best.
type Quoted struct {
	Follows string              `json:"follows"`
	Answer  string              `json:"answer"`
	Sources []topicqueue.Source `json:"sources"`
}

// askedBatch returns the prefix of the names of the batches that hold the questions about a run. Each question has its
// own batch.
func askedBatch(runID string) string { return "ask_" + runID + "_" }

// Reported returns a run that has a report.
func (d *Desk) Reported(ctx context.Context, r RunRequest) (topicqueue.Run, error) {
	about, err := d.Find(ctx, r.RunID)
	if err == nil && d.Location(about.Run) == "" {
		err = view.Refused(fmt.Errorf("run %s has no report yet", about.ID),
			"`nightdesk status "+about.ID+"` says how far it is.")
	}
	return about.Run, err
}

// Ask enqueues a question about a report, before other research. The report of the run that is returned is the answer:
// see [Desk.Asked].
func (d *Desk) Ask(ctx context.Context, r AskRequest) (RunDetail, error) {
	if err := tasks.CheckTopic(r.Question); err != nil {
		return RunDetail{}, view.Usage(view.Hint(err, "Ask in other words."))
	}
	if !d.Config.LLM.Enabled() {
		return RunDetail{}, view.Usage(ErrNoModel)
	}
	about, err := d.Reported(ctx, r.RunRequest)
	if err != nil {
		return RunDetail{}, err
	}
	options, err := d.askedOptions(ctx, about, r.Own)
	if err != nil {
		return RunDetail{}, err
	}
	lane := tasks.LaneHigh
	if r.Own {
		lane = ""
	}
	run, err := d.Single(ctx, askedBatch(about.ID), r.Question, options, lane)
	if err != nil {
		return RunDetail{}, err
	}
	return d.Run(ctx, RunRequest{RunID: run.ID})
}

// askedOptions returns the options of a question about a run. own: the knowledge base may be a folder, which is indexed
// first.
func (d *Desk) askedOptions(ctx context.Context, about topicqueue.Run, own bool) (o topicqueue.Options, err error) {
	settings := map[string]string{"preset": "shallow"}
	if about.Options.Language != "" {
		settings["language"] = about.Options.Language
	}
	if !d.Config.Given("kb_name") {
		settings["kb_name"] = about.Options.KnowledgeBase
		if _, _, err := d.Bases().Find(ctx, about.Options.KnowledgeBase); err != nil { // removed, or elsewhere
			settings["kb_name"] = ""
		}
	}
	cfg, err := d.Config.With(settings)
	if err != nil {
		return o, view.Usage(err)
	}
	kb := ""
	if own {
		kb, err = d.Bases().Resolve(ctx, cfg.KBName)
	} else {
		kb, _, err = d.Bases().Find(ctx, cfg.KBName)
	}
	if err != nil {
		return o, err
	}
	if o, err = (intake.Flags{Follows: true}).Options(cfg, kb); err != nil {
		return o, err
	}
	o.Follows, o.HumanInTheLoop, o.Formats, o.Audio = about.ID, false, nil, topicqueue.AudioNone
	o.Tools = append([]string{tools.NameReportEvidence}, o.Tools...)
	o.Earlier, err = d.earlierAsked(ctx, about.ID)
	return o, err
}

// Asked returns a question that was answered.
func (d *Desk) Asked(ctx context.Context, r RunRequest) (out Asked, err error) {
	if out.RunDetail, err = d.Run(ctx, r); err != nil || out.Report == "" {
		return out, err
	}
	report, err := d.Store.Get(ctx, out.ReportKey)
	_, answer, _ := strings.Cut(string(report), "\n") // the title repeats the question
	out.Follows, out.Answer = out.Options.Follows, strings.TrimSpace(answer)
	return out, err
}

// earlierAsked returns the last questions about a run that have a published answer, oldest first, at most maxEarlier.
func (d *Desk) earlierAsked(ctx context.Context, runID string) (out []topicqueue.FollowUp, err error) {
	batches, err := d.Queue.Batches(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range slices.Backward(batches) {
		if !strings.HasPrefix(b.Name, askedBatch(runID)) || len(out) == maxEarlier {
			continue
		}
		err := d.Queue.Runs(ctx, b.Name, func(run topicqueue.Run) error {
			if run.Report == "" || run.PublishedAt.IsZero() {
				return nil
			}
			report, err := bundle.Report(ctx, d.Store, run.ID)
			if errors.Is(err, storage.ErrNotExist) { // purged meanwhile
				return nil
			}
			out = append(out, topicqueue.FollowUp{Question: run.Topic, Answer: report.Body(nil)})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Reverse(out)
	return out, nil
}

// Quote returns the passages of a run's evidence that match a question best, without a model.
func (d *Desk) Quote(ctx context.Context, r AskRequest) (Quoted, error) {
	about, err := d.Reported(ctx, r.RunRequest)
	if err != nil {
		return Quoted{}, err
	}
	sources, err := bundle.Sources(ctx, d.Store, about.ID)
	if err != nil {
		return Quoted{}, err
	}
	const most = 3
	found, err := tools.NewReportEvidence(sources, most).Call(ctx, tools.Call{Query: r.Question})
	return Quoted{about.ID, found.Text, found.Sources}, err
}
