package planning

import (
	"context"
	"fmt"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Direct returns the plan of a run that is answered in one conversation, with the topic as its only block. why: the
// reason for this choice, or "" if the user chose it. It does not call the model. The error is that of Emit.
func (p *Planner) Direct(ctx context.Context, run topicqueue.Run, why string) (topicqueue.Plan, error) {
	d := &draft{Planner: p, run: run}
	decided := "answered in one conversation"
	if why != "" {
		decided += ": " + why
	}
	if err := d.follow(ctx, "the question is taken as it is", "no background is needed for a direct answer",
		"none was looked for", decided); err != nil {
		return topicqueue.Plan{}, err
	}
	title := text.Title(run.Topic)
	if title == "" {
		title = topicqueue.Clip(topicqueue.OneLine(run.Topic), maxDirectTitle)
	}
	return topicqueue.Plan{
		Topic: run.Topic, Mode: run.Options.DecomposeMode, Path: topicqueue.PathShallow, Why: why,
		SubTopics: []topicqueue.SubTopic{{Title: title, Overview: topicqueue.OneLine(run.Topic)}},
		Queries:   []string{}, Traces: []topicqueue.ToolTrace{}, Fallbacks: []string{},
	}, nil
}

// maxDirectTitle is the maximum length of a block title taken from the topic, in bytes.
const maxDirectTitle = 200

// Route asks the model to choose between an answer in one conversation and research. If it does not decide, the topic
// is researched. The error is the end of ctx.
func (p *Planner) Route(ctx context.Context, run topicqueue.Run) (path, why string, err error) {
	d := &draft{Planner: p, run: run}
	answer, err := llm.Ask[prompts.RouteAnswer](ctx, p.Model, d.request(0, 0, prompts.Route(run.Options.Language,
		prompts.RouteData{Topic: run.Topic})))
	switch {
	case ctx.Err() != nil:
		return "", "", context.Cause(ctx)
	case err != nil:
		return topicqueue.PathDeep, "research was chosen because the model did not decide: " +
			topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), maxReason), nil
	}
	why = topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(answer.Reason)), maxReason)
	if why == "" {
		why = fmt.Sprintf("the model chose %s and gave no reason", answer.Path)
	}
	if answer.Path == topicqueue.PathShallow {
		return topicqueue.PathShallow, why, nil
	}
	return topicqueue.PathDeep, why, nil
}
