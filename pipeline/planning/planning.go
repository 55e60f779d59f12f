// Package planning turns the topic of a run into sub-topics: it rephrases the topic, looks into the knowledge base
// for background, and decomposes. It does not fill the queue and does not research. Entry points: Planner.Plan, and
// Planner.Given for a plan that a person gives (ParseGiven).
//
// With a model, each step has a fallback: the user's own topic, no background, the plan that is made without a model.
// That one is the topic itself and the sections of the knowledge base that answer it nearly as well as the best. A
// plan is never empty.
package planning

import (
	"context"
	"fmt"
	"time"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// SectionFinder knows the structure of a knowledge base.
type SectionFinder interface {
	// Sections returns the sections that match a query best, best first, at most limit.
	Sections(ctx context.Context, query string, limit int) ([]knowledge.SectionHit, error)
	// Titles returns the documents whose titles match a query best, best first, at most limit.
	Titles(ctx context.Context, query string, limit int) ([]knowledge.DocumentHit, error)
}

// Planner plans runs. Its fields are set once; Plan is safe for concurrent use.
type Planner struct {
	Model    llm.Model     // nil: the extractive form
	Runner   *tools.Runner // makes the calls of background retrieval
	Sections SectionFinder // nil: without a model the topic is the only sub-topic
	Emit     topicqueue.Emit
	Now      func() time.Time // nil: time.Now
}

// Plan plans a run. The plan has at least one sub-topic, with no two alike by topicqueue.Duplicate.
//
// The error is for what must stop the run: the end of ctx (its cause is wrapped), an error of Emit or of a tool, and
// a model that is needed for decomposing and cannot be used (llm.ErrPermanent, llm.ErrUnavailable). Nothing usable is
// returned with it.
func (p *Planner) Plan(ctx context.Context, run topicqueue.Run) (topicqueue.Plan, error) {
	d := &draft{Planner: p, run: run, topic: topicqueue.OneLine(run.Topic)}
	if len(run.Dialogue) > 0 {
		d.topic = d.withSaid(d.topic)
	}
	for _, step := range []func(context.Context) error{d.rephrase, d.background, d.subTopics} {
		err := step(ctx)
		if ctx.Err() != nil {
			return topicqueue.Plan{}, context.Cause(ctx)
		}
		if err != nil {
			return topicqueue.Plan{}, fmt.Errorf("plan %s: %w", run.ID, err)
		}
	}
	return topicqueue.Plan{
		Topic:     d.topic,
		Mode:      run.Options.DecomposeMode,
		SubTopics: d.topics,
		Queries:   d.queries,
		Traces:    d.traces,
		Fallbacks: d.fallbacks,
		Returned:  d.returned,
	}, nil
}

// draft is a plan in the making. It belongs to one goroutine.
type draft struct {
	*Planner
	run       topicqueue.Run
	topic     string // as researched
	queries   []string
	traces    []topicqueue.ToolTrace
	returned  string // see topicqueue.Plan
	topics    []topicqueue.SubTopic
	fallbacks []string
}

func (d *draft) manual() bool { return d.run.Options.DecomposeMode != topicqueue.DecomposeAuto }

// wanted is how many sub-topics are asked for: exactly in manual mode, at most in auto mode.
func (d *draft) wanted() int { return max(1, d.run.Options.SubTopics) }

func (d *draft) fallBack(format string, args ...any) {
	d.fallbacks = append(d.fallbacks, fmt.Sprintf(format, args...))
}

func (d *draft) now() time.Time {
	if d.Now == nil {
		return time.Now().UTC()
	}
	return d.Now().UTC()
}

func (d *draft) request(round, ordinal int, prompt prompts.Prompt) llm.Request {
	return llm.Request{
		Position: llm.Position{
			RunID: d.run.ID, Stage: "planning", Iteration: round, Step: prompt.Name, Ordinal: ordinal,
		},
		Role:   llm.Planner,
		Prompt: prompt,
	}
}

func (d *draft) step(ctx context.Context, key, format string, args ...any) error {
	if d.Emit == nil {
		return nil
	}
	if err := d.Emit(ctx, topicqueue.StepEvent(key, fmt.Sprintf(format, args...))); err != nil {
		return fmt.Errorf("emit %s: %w", key, err)
	}
	return nil
}
