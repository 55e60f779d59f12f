package planning

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// approvals is how often a plan is shown to a person in one run: as often as its topic may be rewritten.
func approvals(o topicqueue.Options) int { return max(1, cmp.Or(o.RephraseIterations, defaultRounds)) }

// Heard returns a run whose last answer about its plan is an approval, if the model finds that it was one in words: it
// then changes nothing of what is planned. The error is the end of ctx (its cause is wrapped).
func (p *Planner) Heard(ctx context.Context, run topicqueue.Run) (topicqueue.Run, error) {
	n := len(run.Dialogue) - 1
	if n < 0 || !inWords(run.Dialogue[n]) {
		return run, nil
	}
	satisfied, err := p.satisfied(ctx, run, run.Dialogue[n])
	if err != nil || !satisfied {
		return run, err
	}
	run.Dialogue = slices.Clone(run.Dialogue)
	run.Dialogue[n].Reply = topicqueue.Reply{Outcome: topicqueue.ReplyDeclined}
	return run, nil
}

// inWords reports whether a person has said of a plan what is to be changed.
func inWords(e topicqueue.Exchange) bool {
	if e.Kind != topicqueue.AskPlan || e.Outcome != topicqueue.ReplyAnswered {
		return false
	}
	_, err := ParseShown(e.Reply.Text)
	return err != nil
}

// Approve shows a plan to the person who has asked for that: question is what the run then waits with; nil: the plan
// that is returned is to be followed. It is the one that was shown last where the person approved it, said nothing, or
// was not there; it is the person's own where the answer is a list. What was said in words was taken into the plan
// (Plan), which is shown again, until that was done often enough. run: as Heard returns it.
func (p *Planner) Approve(run topicqueue.Run, plan topicqueue.Plan) (*topicqueue.Question, topicqueue.Plan) {
	if !run.Options.ApprovePlan || !run.Options.HumanInTheLoop {
		return nil, plan
	}
	shown := shownPlans(run)
	if len(shown) == 0 {
		return &topicqueue.Question{Kind: topicqueue.AskPlan, Text: show(plan)}, plan
	}
	last := shown[len(shown)-1]
	switch {
	case !inWords(last):
		text := last.Question.Text
		if last.Outcome == topicqueue.ReplyAnswered {
			text = last.Reply.Text
		}
		if items, err := ParseShown(text); err == nil {
			plan.SubTopics = kept(plan.SubTopics, items)
		}
		return nil, plan
	case len(shown) >= approvals(run.Options):
		return nil, plan
	}
	return &topicqueue.Question{Kind: topicqueue.AskPlan, Text: show(plan)}, plan
}

// shownPlans are the plans that a person was shown, with what was said of them.
func shownPlans(run topicqueue.Run) (out []topicqueue.Exchange) {
	for _, e := range run.Dialogue {
		if e.Kind == topicqueue.AskPlan {
			out = append(out, e)
		}
	}
	return out
}

// show writes a plan as a person edits it: the brief, where the topic was rewritten, as a quotation, then a list.
func show(plan topicqueue.Plan) string {
	var b strings.Builder
	if strings.Contains(strings.TrimSpace(plan.Topic), "\n") {
		for line := range strings.Lines(plan.Topic) {
			b.WriteString(strings.TrimRight("> "+strings.TrimSpace(line), " ") + "\n")
		}
		b.WriteString("\n")
	}
	for _, s := range plan.SubTopics {
		fmt.Fprintf(&b, "- %s\n", topicqueue.OneLine(s.Title))
		if overview := topicqueue.OneLine(s.Overview); overview != "" {
			fmt.Fprintf(&b, "  %s\n", overview)
		}
	}
	return b.String()
}

// ParseShown reads a plan that a person was shown, or what the person has made of it. Quoted lines say nothing. Errors
// are those of ParseGiven.
func ParseShown(text string) ([]topicqueue.SubTopic, error) {
	var list strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, ">") {
			list.WriteString(line)
		}
	}
	return ParseGiven(list.String())
}

// kept returns the items of a person's plan; what the person has left as it was keeps the queries of the planned one.
func kept(planned, items []topicqueue.SubTopic) []topicqueue.SubTopic {
	for i, item := range items {
		for _, p := range planned {
			if cleanTitle(topicqueue.OneLine(p.Title)) == item.Title {
				items[i] = p
				items[i].Overview = item.Overview
			}
		}
		if len(items[i].Queries) == 0 {
			items[i].Queries = []string{item.Title}
		}
	}
	return items
}

// satisfied asks the model whether a person who has answered in words wants the plan as it was shown. A model that
// cannot be used says no: the plan, into which the words were taken, is shown again.
func (p *Planner) satisfied(ctx context.Context, run topicqueue.Run, e topicqueue.Exchange) (bool, error) {
	if p.Model == nil {
		return false, nil
	}
	d := &draft{Planner: p, run: run}
	answer, err := llm.Ask[prompts.SatisfiedAnswer](ctx, p.Model, d.request(len(run.Dialogue), 0,
		prompts.Satisfied(run.Options.Language, prompts.SatisfiedData{
			Topic: run.Topic, Plan: e.Question.Text, Answer: e.Reply.Text})))
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil && answer.Satisfied, nil
}
