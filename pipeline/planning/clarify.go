package planning

import (
	"context"
	"fmt"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const (
	maxQuestions = 3     // questions to the user per run
	maxQuestion  = 1_000 // bytes per question
	clarifyBytes = 6_000 // bytes of passages in the prompt
)

// Clarify decides whether a run must ask the user before planning, and returns the question or nil. It searches the
// knowledge base and asks the model once, which either writes a question or accepts the topic. It returns nil without a
// model, and once the user has not answered. It also returns nil if the model fails, because planning then reports the
// failure.
//
// The error is the end of ctx (its cause is wrapped), or one of Emit or of a tool.
func (p *Planner) Clarify(ctx context.Context, run topicqueue.Run) (*topicqueue.Question, error) {
	d := &draft{Planner: p, run: run, topic: topicqueue.OneLine(run.Topic)}
	if p.Model == nil || !run.Options.HumanInTheLoop || len(shownPlans(run)) > 0 {
		return nil, nil // a plan was already shown, so the topic is clear
	}
	if err := d.step(ctx, topicqueue.StepStartFollowUp, "checking whether the topic is clear"); err != nil {
		return nil, err
	}
	n := len(run.Dialogue)
	if n > 0 && run.Dialogue[n-1].Outcome != topicqueue.ReplyAnswered {
		return nil, d.step(ctx, topicqueue.StepEndFollowUpNeg, "there was no answer: the topic is used as it was given")
	}
	if n >= maxQuestions {
		return nil, d.step(ctx, topicqueue.StepEndFollowUpPos, "%d questions were answered", n)
	}
	passages, err := d.clarifyPassages(ctx)
	if err != nil {
		return nil, fmt.Errorf("clarify %s: %w", run.ID, err)
	}
	answer, err := llm.Ask[prompts.ClarifyAnswer](ctx, p.Model, d.request(n+1, 0, prompts.Clarify(run.Options.Language,
		prompts.ClarifyData{Topic: d.withSaid(run.Topic), Passages: passages})))
	question := topicqueue.Clip(strings.TrimSpace(topicqueue.Printable(prompts.Unmarked(answer.Question))), maxQuestion)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, d.step(ctx, topicqueue.StepFailClarification, "the topic is used as it was given: %s",
			topicqueue.Clip(topicqueue.OneLine(err.Error()), maxReason))
	case answer.Ask && question == "":
		return nil, d.step(ctx, topicqueue.StepFailClarification,
			"the topic is used as it was given: the model gave no question")
	case answer.Ask:
		return &topicqueue.Question{Kind: topicqueue.AskClarification, Text: question}, nil
	case n > 0:
		return nil, d.step(ctx, topicqueue.StepEndFollowUpPos, "the answer makes the topic clear")
	}
	return nil, d.step(ctx, topicqueue.StepEndFollowUpNeg, "the topic is clear")
}

// clarifyPassages returns the passages of the knowledge base on the topic, best first; none without a knowledge base.
func (d *draft) clarifyPassages(ctx context.Context) ([]prompts.Passage, error) {
	tool, ok := d.Runner.Tools.Enabled(d.run.Options.Tools).Retrieval()
	if !ok {
		return nil, nil
	}
	answer, err := d.Runner.Call(ctx, d.run.ID, tool, tools.Call{ToolID: "plan/0.1", Query: questionOf(d.run.Topic)})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("look into the knowledge base with %s: %w", tool, err)
	}
	var out []prompts.Passage
	left := clarifyBytes
	for _, s := range answer.Sources {
		if left -= len(s.Text); left < 0 || answer.Failed {
			break
		}
		out = append(out, passage(topicqueue.PlanCitationID(len(out)+1), s))
	}
	return out, nil
}

// withSaid returns a topic with the user's answers, verbatim.
func (d *draft) withSaid(topic string) string {
	var said []prompts.Said
	for _, e := range d.run.Dialogue {
		if e.Kind == topicqueue.AskClarification || inWords(e) {
			said = append(said, prompts.Said{Question: e.Question.Text, Answer: e.Reply.Text})
		}
	}
	return prompts.WithSaid(d.run.Options.Language, topic, said)
}
