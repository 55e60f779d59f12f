// Package planning divides the topic of a run into sub-topics: it rephrases the topic, searches for background, and
// decomposes the topic. It does not fill the queue or do research. Entry points: Planner.Plan, and Planner.Given for a
// plan written by the user (ParseGiven).
//
// With a model, each step has a fallback: the user's own topic, no background, or the plan without a model. That plan
// consists of the topic itself and the sections of the knowledge base that match it nearly as well as the best one. A
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

// SectionFinder searches the structure of a knowledge base.
type SectionFinder interface {
	// Sections returns up to limit sections that match query, best first.
	Sections(ctx context.Context, query string, limit int) ([]knowledge.SectionHit, error)
	// Titles returns up to limit documents whose titles match query, best first.
	Titles(ctx context.Context, query string, limit int) ([]knowledge.DocumentHit, error)
}

// Planner plans runs. Its fields must not change after the first call. Plan is safe for concurrent use.
type Planner struct {
	Model    llm.Model     // nil: extractive form
	Runner   *tools.Runner // makes the calls of background retrieval
	Sections SectionFinder // nil: without a model, the topic is the only sub-topic
	// Collection holds all passages of the run's documents, which are read whole after planning; nil: there are too many,
	// so planning searches them.
	Collection []topicqueue.Source
	Emit       topicqueue.Emit
	Now        func() time.Time // nil: time.Now
}

// Plan plans a run. The plan has at least one sub-topic and no duplicates by topicqueue.Duplicate.
//
// An error means that the run must stop: the end of ctx (its cause is wrapped), an error of Emit or of a tool, or an
// unusable model in decompose (llm.ErrPermanent, llm.ErrUnavailable). The returned plan is then empty.
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

// draft is a plan in progress. It is not safe for concurrent use.
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

// wanted returns the number of sub-topics: exact in manual mode, a maximum in auto mode.
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
