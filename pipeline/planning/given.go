package planning

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/topicqueue"
)

// Limits of a user's plan, which is stored with every run that follows it.
const (
	maxGiven         = 64 << 10 // bytes
	maxGivenItems    = 50       // also the maximum for a model's plan
	maxGivenProblems = 20       // shown in an error
)

// ParseGiven parses a plan written by the user: a Markdown list whose items become topic blocks, in order. The line of
// an item is the block's title. Indented lines below it, list items or not, describe what to find out. Headings and
// empty lines are ignored. The error lists up to 20 invalid lines.
func ParseGiven(plan string) ([]topicqueue.SubTopic, error) {
	if !utf8.ValidString(plan) || strings.ContainsRune(plan, 0) {
		return nil, errors.New("the plan is not UTF-8 text")
	}
	if len(plan) > maxGiven {
		return nil, fmt.Errorf("the plan has %d bytes, but at most %d are allowed", len(plan), maxGiven)
	}
	p := givenParser{}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(plan, "\ufeff")) {
		n++
		p.line(n, strings.TrimRightFunc(line, unicode.IsSpace))
	}
	for i := range p.items {
		p.check(i)
	}
	if len(p.items) == 0 && len(p.problems) == 0 {
		p.wrong(max(1, n), "there is no item: a line such as \"- Costs since 2020\" is one")
	}
	if more := len(p.problems) - maxGivenProblems; more > 0 {
		p.problems = append(p.problems[:maxGivenProblems], fmt.Errorf("and %d more", more))
	}
	return p.items, errors.Join(p.problems...)
}

// givenParser parses a plan line by line.
type givenParser struct {
	items    []topicqueue.SubTopic
	lines    []int // line numbers of the items
	problems []error
}

func (p *givenParser) wrong(line int, format string, args ...any) {
	p.problems = append(p.problems, fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

func (p *givenParser) line(n int, line string) {
	text := strings.TrimLeft(line, " \t")
	indent := len(line) - len(text)
	below := indent > 1 || strings.HasPrefix(line, "\t")
	content, isItem := listItem(text)
	switch {
	case text == "", strings.HasPrefix(text, "#") && !below:
	case below && len(p.items) == 0:
		p.wrong(n, "it is indented, and no item stands above it")
	case below:
		last := &p.items[len(p.items)-1]
		last.Overview = strings.TrimSpace(last.Overview + " " + topicqueue.OneLine(content))
	case !isItem:
		p.wrong(n, "not a list item: begin it with \"- \", or indent it to continue the item above")
	case cleanTitle(content) == "":
		p.wrong(n, "an item without text")
	case len(topicqueue.OneLine(content)) > maxTitle:
		p.wrong(n, "an item of %d bytes, but at most %d are allowed. Put the rest in indented lines below it",
			len(topicqueue.OneLine(content)), maxTitle)
	default:
		p.items = append(p.items, topicqueue.SubTopic{Title: cleanTitle(content)})
		p.lines = append(p.lines, n)
	}
}

// check records problems of an item, including similarity to earlier items.
func (p *givenParser) check(i int) {
	item := p.items[i]
	if i == maxGivenItems {
		p.wrong(p.lines[i], "the plan has %d items, but at most %d are allowed", len(p.items), maxGivenItems)
	}
	if len(item.Overview) > maxOverview {
		p.wrong(p.lines[i], "the text below the item has %d bytes, but at most %d are allowed", len(item.Overview),
			maxOverview)
	}
	for k, other := range p.items[:min(i, maxGivenItems)] {
		if topicqueue.Duplicate(other.Title, item.Title) {
			p.wrong(p.lines[i], "the item is nearly the same as that of line %d: join them, or say what is different",
				p.lines[k])
			return
		}
	}
}

// listItem removes a Markdown list marker and a task checkbox from a line.
func listItem(line string) (content string, ok bool) {
	mark, rest, _ := strings.Cut(line, " ")
	number := strings.TrimRight(mark, ".)")
	ordered := len(number) > 0 && len(number) < 10 && len(mark) == len(number)+1 && strings.Trim(number,
		"0123456789") == ""
	if mark != "-" && mark != "*" && mark != "+" && !ordered {
		return line, false
	}
	rest = strings.TrimLeft(rest, " \t")
	for _, box := range []string{"[ ]", "[x]", "[X]"} {
		rest = strings.TrimPrefix(rest, box+" ")
	}
	return rest, true
}

// Given emits the planning events of a run that follows the plan in its options, and returns that plan. It does not
// call the model. The error is that of Emit.
func (p *Planner) Given(ctx context.Context, run topicqueue.Run) (topicqueue.Plan, error) {
	d := &draft{Planner: p, run: run}
	if err := d.follow(ctx, "the topic is used as it was given", "looking for background",
		"not needed, because the plan was given", "the plan was given"); err != nil {
		return topicqueue.Plan{}, err
	}
	plan := topicqueue.Plan{Topic: topicqueue.OneLine(run.Topic), Mode: run.Options.DecomposeMode}
	for _, item := range run.Options.Plan {
		item.Queries = []string{within(d.run.Topic, item.Title)}
		plan.SubTopics = append(plan.SubTopics, item)
	}
	return plan, nil
}

// follow emits the planning events for an existing plan.
func (d *draft) follow(ctx context.Context, topic, looking, found, plan string) error {
	for _, s := range []struct{ key, info string }{
		{topicqueue.StepStartQueryRewriter, topicqueue.OneLine(d.run.Topic)},
		{topicqueue.StepEndQueryRewriterNoFeedback, topic},
		{topicqueue.StepStartSearchBackground, looking},
		{topicqueue.StepEndSearchBackground, found},
		{topicqueue.StepStartResearchPlanner, plan},
	} {
		if err := d.step(ctx, s.key, "%s", s.info); err != nil {
			return err
		}
	}
	return nil
}

// Again emits the planning events of a run that follows an earlier run's plan, and returns that plan. since: date of
// the earlier run. It does not call the model. The error is that of Emit.
func (p *Planner) Again(ctx context.Context, run topicqueue.Run, plan topicqueue.Plan,
	since string) (topicqueue.Plan, error) {
	d := &draft{Planner: p, run: run}
	if err := d.follow(ctx, "the topic is that of "+since, "looking at what was found on "+since,
		fmt.Sprintf("%d sub-topics", len(plan.SubTopics)), "the plan is that of "+since); err != nil {
		return topicqueue.Plan{}, err
	}
	return plan, nil
}
