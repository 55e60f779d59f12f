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

// approvals returns how often a run shows its plan to the user: as often as its topic may be rephrased.
func approvals(o topicqueue.Options) int { return max(1, cmp.Or(o.RephraseIterations, defaultRounds)) }

// Heard turns the user's last answer about the plan into an approval if the model finds that its words approve the
// plan, so that they do not change it. The error is the end of ctx (its cause is wrapped).
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

// inWords reports whether the user answered a plan in words, not with an edited list.
func inWords(e topicqueue.Exchange) bool {
	if e.Kind != topicqueue.AskPlan || e.Outcome != topicqueue.ReplyAnswered {
		return false
	}
	_, err := ParseShown(e.Reply.Text)
	return err != nil
}

// Approve returns the question with which the run waits for the user's approval, or nil and the plan to follow. The
// final plan is the one last shown, if the user approved it, did not answer or was away. If the answer is a list, that
// list is the plan. Plan has already applied an answer in words, so the plan is shown again, up to approvals times.
// run: as returned by Heard.
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

// shownPlans returns the plans shown to the user, with the answers.
func shownPlans(run topicqueue.Run) (out []topicqueue.Exchange) {
	for _, e := range run.Dialogue {
		if e.Kind == topicqueue.AskPlan {
			out = append(out, e)
		}
	}
	return out
}

// show renders a plan for editing: the brief, if the topic was rephrased, as a quotation, then a list.
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

// ParseShown parses a shown plan, or the user's edited version. Quoted lines are ignored. Errors are those of
// ParseGiven.
func ParseShown(text string) ([]topicqueue.SubTopic, error) {
	var list strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, ">") {
			list.WriteString(line)
		}
	}
	return ParseGiven(list.String())
}

// kept returns the items of the user's plan. Items with an unchanged title keep their planned queries.
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

// satisfied asks the model whether the user's answer in words approves the plan. If the model fails, it returns false,
// so that the plan is shown again with the words applied.
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
