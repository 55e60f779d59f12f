package reporting

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// writer is the work on one report.
type writer struct {
	*Reporter
	run      topicqueue.Run
	topic    string // as researched: what a model is given
	title    string // heading of the topic: what a report is called by default
	words    wordSet
	registry *citation.Registry
	returned map[string]topicqueue.Source // by source id: what traces hold and what else was returned
	review   topicqueue.Review
	subjects []subject
	gaps     []Gap
	stats    Statistics
	texts    map[string]string // of sources, by id, as far as they were read
	weighed  evidence.Weighed
	changes  *recurring.Changes
	template *Template       // in place of an outline; nil: none
	places   map[string]int  // of claims by id: the section of the template, from 0
	before   *Text           // what may be kept of the last report
	moved    map[string]bool // blocks and citation ids with news, when there is a last report

	mu        sync.Mutex
	fallbacks []string
	found     map[string]citation.Linked // by the source's address: how it was written
}

func newWriter(r *Reporter, in Input, words wordSet) *writer {
	w := &writer{Reporter: r, texts: map[string]string{}, returned: map[string]topicqueue.Source{}, found: map[string]citation.Linked{}, run: in.Run, words: words, topic: in.Plan.Topic, review: in.Review}
	if strings.TrimSpace(w.topic) == "" {
		w.topic = in.Run.Topic
	}
	w.title = headline(in.Run.Topic, words.untitled)
	w.subjects, w.gaps = gather(in, words)
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
	w.stats.Blocks = len(in.Blocks)
	for _, s := range w.subjects {
		w.stats.Claims += len(s.claims)
	}
	return w
}

// headline makes the report's title of what the user asked for.
func headline(topic, untitled string) string {
	if title := CleanTitle(extractive.Title(topic)); title != "" {
		return title
	}
	if title := CleanTitle(topic); title != "" {
		return title
	}
	return untitled
}

// write produces the report, with the model when there is one.
func (w *writer) write(ctx context.Context) (Report, error) {
	if err := w.deduplicate(ctx); err != nil {
		return Report{}, err
	}
	if err := w.useTemplate(ctx); err != nil {
		return Report{}, err
	}
	if w.Model == nil {
		return w.quoted(ctx)
	}
	outline, err := w.outline(ctx)
	if err != nil {
		return Report{}, err
	}
	sections, err := w.sections(ctx, outline)
	if err != nil {
		return Report{}, err
	}
	w.stats.RepeatedSentences = dropRepeated(sections)
	for _, s := range sections {
		w.stats.RepeatedSentences += s.repeated
	}
	d := draft{sections: sections}
	if past := w.keptFrame(sections); past != nil {
		d.opening, d.conclusion = past.Opening.passage(), past.Conclusion.passage()
		w.stats.RepeatedSentences += d.opening.repeated + d.conclusion.repeated
	} else if d.opening, d.conclusion, err = w.frame(ctx, outline, sections); err != nil {
		return Report{}, err
	}
	return w.finish(ctx, outline, d)
}

// finish checks a draft and makes the report of it.
func (w *writer) finish(ctx context.Context, outline prompts.OutlineAnswer, d draft) (Report, error) {
	d, v, err := w.check(ctx, d)
	if err != nil {
		return Report{}, err
	}
	now := w.Now
	if now == nil {
		now = time.Now
	}
	v.Links = w.links(d)
	v.Evaluation = w.evaluate(d, v, w.run.Date(now()))
	report := w.assemble(outline, d, v)
	report.Changes, report.Text = w.changes, w.keep(outline, d, v)
	return report, nil
}

// deduplicate merges subjects that say the same. With one subject there is nothing to ask, and neither when the last
// review has said it of all of them.
func (w *writer) deduplicate(ctx context.Context) error {
	before := len(w.subjects)
	if before < 2 || w.template != nil { // whose sections are no blocks
		return nil
	}
	groups := localGroups(w.subjects, w.words)
	switch {
	case w.Model == nil:
	case w.before != nil:
		groups = w.before.groups()
	case w.review.Covers(subjectIDs(w.subjects)):
		groups = nil
		for _, s := range w.review.Same {
			groups = append(groups, prompts.MergeGroup(s))
		}
	default:
		answer, err := ask[prompts.DeduplicateAnswer](ctx, w, func(shrink int) prompts.Prompt {
			return prompts.Deduplicate(w.run.Options.Language, prompts.DeduplicateData{
				Topic: w.topic, Blocks: digests(w.subjects, dedupDigestBytes, shrink),
			})
		})
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			w.fellBack("deduplicate")
		} else {
			groups = answer.Groups
		}
	}
	w.subjects = merge(w.subjects, groups)
	w.stats.MergedBlocks = before - len(w.subjects)
	return nil
}

// outline asks for the outline; without a usable answer each subject becomes a section.
func (w *writer) outline(ctx context.Context) (prompts.OutlineAnswer, error) {
	now := w.Now
	if now == nil {
		now = time.Now
	}
	if w.template != nil {
		return w.templated(), nil
	}
	if w.before != nil {
		return w.repaired(w.before.Outline), nil
	}
	data := prompts.OutlineData{Topic: w.topic, Date: w.run.Date(now())}
	answer, err := ask[prompts.OutlineAnswer](ctx, w, func(shrink int) prompts.Prompt {
		data.Blocks = digests(w.subjects, outlineDigestBytes, shrink)
		return prompts.Outline(w.run.Options.Language, data)
	})
	if err != nil {
		if ctx.Err() != nil {
			return answer, err
		}
		w.fellBack("outline")
		answer = prompts.OutlineAnswer{}
	}
	return w.repaired(answer), nil
}

// repaired places every subject in the outline.
func (w *writer) repaired(answer prompts.OutlineAnswer) prompts.OutlineAnswer {
	lines := make([]prompts.BlockLine, len(w.subjects))
	for i, s := range w.subjects {
		lines[i] = prompts.BlockLine{ID: s.id, Title: s.title}
	}
	return RepairOutline(answer, w.title, lines)
}

// withMergedBlocks names all blocks of each section, for the outline that is stored: the steps before know only the
// first of merged blocks.
func (w *writer) withMergedBlocks(o prompts.OutlineAnswer) prompts.OutlineAnswer {
	sections := make([]prompts.OutlineSection, len(o.Sections))
	for i, s := range o.Sections {
		sections[i] = s
		sections[i].BlockIDs = nil
		for _, subject := range w.subjectsOf(s) {
			sections[i].BlockIDs = append(sections[i].BlockIDs, subject.blockIDs()...)
		}
	}
	o.Sections = sections
	return o
}

// subjectsOf returns the subjects that a section of the outline is written from.
func (w *writer) subjectsOf(s prompts.OutlineSection) []subject {
	var found []subject
	for _, id := range s.BlockIDs {
		for _, subject := range w.subjects {
			if subject.id == id {
				found = append(found, subject)
			}
		}
	}
	return found
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
