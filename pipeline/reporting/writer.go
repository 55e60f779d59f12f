package reporting

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// writer is the work on one report.
type writer struct {
	*Reporter
	run      topicqueue.Run
	topic    string // as researched: what a model is given
	title    string // heading of the topic: what a report is called by default
	texts    *prompts.Texts
	registry *citation.Registry
	returned map[string]topicqueue.Source // by source id: what traces hold and what else was returned
	review   topicqueue.Review
	blocks   []blockEvidence
	claims   []claim // of all blocks
	gaps     []Gap
	stats    Statistics
	read     map[string]string // of sources, by id, as far as they were read
	weighed  evidence.Weighed
	changes  *recurring.Changes
	template *Template       // in place of an outline; nil: none
	answer   string          // that the report is; empty: it is written
	before   *Text           // what may be kept of the last report
	moved    map[string]bool // citation ids with news, when there is a last report

	mu        sync.Mutex
	fallbacks []string
	moments   []Moment
	found     map[string]citation.Linked // by the source's address: how it was written
}

func newWriter(r *Reporter, in Input, texts *prompts.Texts) *writer {
	w := &writer{Reporter: r, read: map[string]string{}, returned: map[string]topicqueue.Source{}, found: map[string]citation.Linked{}, run: in.Run, texts: texts, topic: in.Plan.Topic, review: in.Review, answer: in.Answer}
	if strings.TrimSpace(w.topic) == "" {
		w.topic = in.Run.Topic
	}
	w.title = headline(in.Run.Topic, texts.Untitled.String())
	w.blocks, w.claims, w.gaps = gather(in, texts)
	w.registry = in.Registry()
	for _, s := range in.AllReturned() {
		w.returned[s.ID] = s
	}
	for _, t := range in.Traces() {
		w.returned[t.Source.ID] = t.Source
	}
	if text := in.Run.Options.Template; text != "" {
		if t, err := ParseTemplate(text); err == nil {
			w.template = &t
		} else { // it was checked when the run was enqueued
			w.fellBack("template: " + err.Error())
		}
	}
	w.goOn(in)
	w.stats.Blocks, w.stats.Claims = len(in.Blocks), len(w.claims)
	return w
}

// headline makes the report's title of what the user asked for.
func headline(topic, untitled string) string {
	return cmp.Or(text.Title(topic), untitled)
}

// write produces the report, with the model when there is one.
func (w *writer) write(ctx context.Context) (Report, error) {
	if len(w.claims) == 0 { // all that is left to tell is what was withdrawn
		w.gaps = nil
		return w.finish(ctx, Outline{Title: w.title},
			draft{extractive: true, opening: passage{body: w.texts.AllGone.String(), local: true}})
	}
	if w.answer != "" {
		return w.answered(ctx)
	}
	if w.Model == nil {
		return w.quoted(ctx)
	}
	plan, err := w.planned(ctx)
	if err != nil {
		return Report{}, err
	}
	w.reached(MomentOutlined, plan.titles()...)
	sections, err := w.sections(ctx, plan)
	if err != nil {
		return Report{}, err
	}
	dropRepeated(sections)
	d := draft{sections: sections}
	if s, ids := w.disagreementSection(sections); len(ids) > 0 {
		d.sections = append(slices.Clone(sections), s)
	}
	if past := w.keptFrame(sections); past != nil {
		d.opening, d.conclusion = past.Opening.passage(), past.Conclusion.passage()
	} else if d.opening, d.conclusion, err = w.frame(ctx, plan, d.sections); err != nil {
		return Report{}, err
	}
	return w.finish(ctx, plan.outline(), d)
}

// finish checks a draft and makes the report of it.
func (w *writer) finish(ctx context.Context, outline Outline, d draft) (Report, error) {
	var v *Verification
	var err error
	if d.extractive {
		v = w.checkQuoted(d)
	} else if d, v, err = w.check(ctx, d); err != nil {
		return Report{}, err
	}
	v.Links, v.Repeated = w.links(d), d.repeated()
	w.stats.RepeatedSentences = len(v.Repeated)
	w.stats.ThinStatements, w.stats.Statements = w.weighed.Thin(w.matters(d.sections))
	v.Evaluation = w.evaluate(d, v, w.run.Date(w.now()))
	report := w.assemble(outline, d, v)
	report.Changes, report.Text = w.changes, w.keep(outline, d, v)
	return report, nil
}

// block returns a block that has claims, nil for another id.
func (w *writer) block(id string) *blockEvidence {
	for i := range w.blocks {
		if w.blocks[i].id == id {
			return &w.blocks[i]
		}
	}
	return nil
}

// reached keeps a moment of the writing.
func (w *writer) reached(name string, titles ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moments = append(w.moments, Moment{Name: name, Time: w.now().UTC(), Titles: titles})
}

func (w *writer) now() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}

// fellBack records that the local form of a step was used. Safe for concurrent use.
func (w *writer) fellBack(step string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fallbacks = append(w.fallbacks, step)
}

// position places a call of this report. attempt counts from 0.
func (w *writer) position(step string, ordinal, attempt int) llm.Position {
	return llm.Position{RunID: w.run.ID, Stage: "reporting", Step: step, Ordinal: ordinal, Iteration: attempt}
}

// ask asks a structured question of the writer. prompt makes it of evidence that is halved shrink times, for models
// with a small window.
func ask[T any](ctx context.Context, w *writer, prompt func(shrink int) prompts.Prompt) (answer T, err error) {
	for shrink := range digestTries {
		p := prompt(shrink)
		answer, err = llm.Ask[T](ctx, w.Model, llm.Request{Position: w.position(p.Name, 0, shrink), Role: llm.Writer, Prompt: p})
		if !errors.Is(err, llm.ErrContextLength) {
			break
		}
	}
	return answer, ended(ctx, err)
}

// text asks for free text. What the token limit has cut is used as far as it goes.
func (w *writer) text(ctx context.Context, p prompts.Prompt, ordinal, attempt int) (string, error) {
	text, err := llm.Text(ctx, w.Model, llm.Request{Position: w.position(p.Name, ordinal, attempt), Role: llm.Writer, Prompt: p})
	if errors.Is(err, llm.ErrTruncated) && ctx.Err() == nil {
		err = nil
	}
	return prompts.Unmarked(text), ended(ctx, err)
}

// ended returns the cause of ctx's end, else err: a call that failed because its run was stopped is no model trouble.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
