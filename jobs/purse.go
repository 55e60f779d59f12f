package jobs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

const (
	// spareShare is the factor by which a run requests more of a shared budget than it probably needs. It requests
	// again before each iteration, and returns what it does not use.
	spareShare = 1.1
	// reportShare is the factor of a report's probable cost that is kept for it.
	reportShare = 1.1
	// hope is the factor by which a run's share will probably grow as other runs return their surplus.
	hope = 1.2
)

// cost returns the cost of calls in the unit of the run's budget. Calls without a known price count 0; each call
// reports that itself.
func (b *budget) cost(calls ...askedCall) (sum int64) {
	for _, c := range calls {
		t := b.experience().tokens(c)
		one, _ := b.price(topicqueue.Usage{Model: b.modelOf(c.role)}, t.in, t.out)
		sum += one * int64(c.times)
	}
	return sum
}

// experience returns the attempt's figures on past calls of this installation.
func (b *budget) experience() Experience {
	x, _ := b.seen.Load().(Experience)
	return x
}

// lookAround updates the attempt's figures on past calls of this installation.
func (b *budget) lookAround(ctx context.Context) {
	figures, _ := b.figures.look(ctx)
	b.seen.Store(ExperienceOf(figures.Models, b.modelOf))
}

// modelOf returns the model used for a role.
func (b *budget) modelOf(role llm.Role) string {
	return llm.Most(b.model, llm.Request{Role: role}).Model
}

// estimate returns the probable cost of parts of the run. evidence: bytes of statements that the report is written
// from; sections: number of sections of the report.
func (b *budget) estimate(evidence, sections int) topicqueue.Estimate {
	o := b.a.Run.Options
	if o.Path == topicqueue.PathShallow { // the answer is the report; its check is not reserved in advance
		return topicqueue.Estimate{Iteration: b.cost(answerCalls...)}
	}
	report := b.cost(reportCalls(sections, evidence)...)
	e := topicqueue.Estimate{PerByte: float64(b.cost(reportCalls(sections, evidence+evidenceOfIteration)...)-
		report) / evidenceOfIteration}
	// without this room, the last answer may be shortened
	room, _ := b.price(topicqueue.Usage{Model: b.modelOf(llm.Writer)}, 0, b.experience().usual(llm.Writer))
	e.Report = int64(reportShare*float64(report)) + room
	e.Iteration = b.cost(noteCall, decideCall(max(1, len(b.a.View.Blocks), o.SubTopics)*o.MaxIterations)) +
		int64(e.PerByte*evidenceOfIteration)
	return e
}

// purse returns the state of the run's budget and the estimated cost of further work. If the budget is shared, purse
// draws the run's share first. From now on, the attempt's calls cannot spend the estimated cost of the report. more:
// number of additional blocks that the run would like.
func (b *budget) purse(ctx context.Context, more int) (p topicqueue.Purse, e topicqueue.Estimate, err error) {
	look := func(share int64) {
		err = steady(ctx, "read the budget", func(ctx context.Context) (err error) {
			p, err = b.a.queue.Purse(ctx, b.a.Run.ID, share, "")
			return err
		})
	}
	b.lookAround(ctx)
	if look(0); err != nil {
		return p, e, err
	}
	sections := 0
	for _, b := range p.Blocks {
		if !b.Ended || b.Iterations > 0 {
			sections++
		}
	}
	e = b.estimate(p.Evidence, max(1, sections))
	if b.a.Run.Options.Common() {
		var share int64
		err = steady(ctx, "draw the run's share of the budget", func(ctx context.Context) (err error) {
			share, err = b.draw(ctx, p, e, more)
			return err
		})
		if err == nil {
			look(share)
		}
	}
	b.stay.Store(e.Report)
	return p, e, err
}

// draw returns the run's share of the budgets of its batch and its night.
func (b *budget) draw(ctx context.Context, p topicqueue.Purse, e topicqueue.Estimate,
	more int) (share int64, err error) {
	o := b.a.Run.Options
	claim := b.claim(p, e, more)
	bound := boundByRun
	if claim.Limit = o.BatchBudget.Amount(); claim.Limit > 0 {
		if share, err = b.a.queue.DrawBatch(ctx, b.a.Run, claim); err != nil {
			return 0, err
		}
		bound = boundByBatch
	}
	if claim.Limit = o.NightBudget.Amount(); claim.Limit > 0 {
		night, err := b.a.queue.DrawNight(ctx, b.a.Run, nightOf(b.a.Run, b.now()), claim)
		if err != nil {
			return 0, err
		}
		if share == 0 || night < share {
			share, bound = night, boundByNight
		}
	}
	if own := o.Budget.Amount(); own > 0 && own <= share {
		bound = boundByRun
	}
	b.bound.Store(bound)
	return share, nil
}

// claim returns the run's request to a shared budget.
func (b *budget) claim(p topicqueue.Purse, e topicqueue.Estimate, more int) redisqueue.Claim {
	o := b.a.Run.Options
	all := b.cost(planCalls(o, o.SubTopics)...)
	least := b.estimate(evidenceOfIteration, 1)
	claim := redisqueue.Claim{Spent: p.Spent, Least: all + least.Iteration + least.Report}
	var rest int64
	if len(p.Blocks) == 0 {
		full := b.estimate(0, o.SubTopics)
		rest, claim.Needs = all+int64(o.SubTopics*o.MaxIterations)*full.Iteration+full.Report, claim.Least
	} else {
		rest, claim.Needs = p.Rest(o.MaxIterations, e), p.Spent+p.Rest(0, e)
	}
	evidence := max(p.Evidence, cmp.Or(len(p.Blocks), o.SubTopics)*o.MaxIterations*evidenceOfIteration)
	if o.MaxLoops > 0 {
		rest += b.cost(reviewCall(evidence)) * int64(o.MaxLoops)
	}
	rest += b.cost(judgeCall(evidence))
	wants := func(more int) int64 {
		return p.Spent + int64(spareShare*float64(rest)) + int64(more)*p.Block(o.MaxIterations, e)
	}
	claim.Wants, claim.High = wants(more), wants(more)
	// a high-priority run holds from the start the amount that other runs request when needed
	if o.MaxLoops > 0 && b.a.Lease.Unit != redisqueue.UnitReport {
		claim.High = wants(max(more, 1))
	}
	if b.a.Run.Lane == LaneHigh {
		claim.Wants = claim.High
	}
	claim.Spare = 4 * b.longest(llm.Planner) // so that none of its answers is limited, see redisqueue.Reserve
	if b.a.Lease.Unit == redisqueue.UnitReport {
		claim.Spare = 4 * b.longest(llm.Writer)
	}
	return claim
}

// errHeld means that other runs hold the run's share of a common budget.
var errHeld = errors.New("it waits because other runs hold the rest of the budget")

// Values of boundBy.
const (
	boundByRun   = "run"
	boundByBatch = "batch"
	boundByNight = "night"
)

// boundBy returns whose budget allows the run least, as of the last look.
func (b *budget) boundBy() string {
	if bound, ok := b.bound.Load().(string); ok {
		return bound
	}
	return boundByRun
}

// budgetWords names the budget that in the end allowed the run least.
func budgetWords(run topicqueue.Run) string {
	o := run.Options
	switch own := o.Budget.Amount(); {
	case !o.Common(), own > 0 && run.Limit >= own:
		return "the budget"
	case o.NightBudget.Amount() == 0:
		return "the budget of the batch"
	case o.BatchBudget.Amount() == 0:
		return "the budget of the night"
	}
	return "the budget of the batch or of the night"
}

// longest returns the cost of the longest answer of a role.
func (b *budget) longest(role llm.Role) int64 {
	most := llm.Most(b.model, llm.Request{Role: role})
	cost, _ := b.price(most, 0, cmp.Or(most.CompletionTokens, longestAnswer))
	return cost
}

// cut records a cut caused by the budget.
func (b *budget) cut(ctx context.Context, what string) {
	if slices.Contains(b.a.Run.Cuts, what) {
		return
	}
	err := steady(ctx, "record the cuts by the budget", func(ctx context.Context) error {
		// notify first; a repetition sends the same event, because an attempt that finds the cut recorded sends none
		if what != topicqueue.CutTime {
			if err := b.tell(ctx, what); away(err) {
				return err
			} else if err != nil {
				b.log.Warn().Err(err).Str("run", b.a.Run.ID).Msg("budget.reached event not sent")
			}
		}
		_, err := b.a.queue.Purse(ctx, b.a.Run.ID, 0, what)
		return err
	})
	if err != nil {
		b.log.Warn().Err(err).Str("run", b.a.Run.ID).Str("cut", what).Msg("cuts by the budget not recorded")
	}
}

// affordable returns how many sub-topics the budget allows, at most most. Each gets one iteration and its part of the
// report.
func (b *budget) affordable(p topicqueue.Purse, most int) int {
	if p.Limit == 0 {
		return most
	}
	limit := p.Limit
	if b.a.Run.Options.Common() {
		limit = int64(hope * float64(limit))
	}
	n := most
	for n > 1 {
		e := b.estimate(0, n)
		if p.Spent+b.cost(planCalls(b.a.Run.Options, n)...)+int64(n)*e.Iteration+e.Report <= limit {
			break
		}
		n--
	}
	return n
}

// mayIterate reports whether budget and time allow the attempt's block another iteration. A run without evidence has no
// report to keep money for: it searches until the money is spent, and then without the model.
func (b *budget) mayIterate(ctx context.Context, k int) (bool, error) {
	if !b.hasTime(ctx, k) {
		return false, nil
	}
	if !b.budgeted() {
		return true, nil
	}
	p, e, err := b.purse(ctx, 0)
	if err != nil || p.MayIterate(b.a.Block.Number(), k, e) {
		return err == nil, err
	}
	if p.Evidence == 0 {
		b.stay.Store(0)
		return true, nil
	}
	if k == 1 {
		b.cut(ctx, topicqueue.CutBlocks)
	} else {
		b.cut(ctx, topicqueue.CutIterations)
	}
	return false, nil
}

// roomFor returns how many of the wanted additional blocks the budget allows; negative = any number.
func (b *budget) roomFor(ctx context.Context, wanted int) (int, error) {
	if !b.budgeted() {
		return -1, nil
	}
	p, e, err := b.purse(ctx, wanted)
	if err != nil {
		return 0, err
	}
	if b.a.Lease.Unit == redisqueue.UnitReview {
		e.Report += b.cost(reviewCall(p.Evidence))
	}
	return p.Room(b.a.Run.Options.MaxIterations, e), nil
}

// budgetReason describes the cuts by budget and deadline, or returns "".
func budgetReason(run topicqueue.Run) string {
	words := map[string]string{topicqueue.CutReview: "no review", topicqueue.CutIterations: "fewer iterations",
		topicqueue.CutBlocks: "fewer topic blocks", topicqueue.CutReport: "a shorter report",
		topicqueue.CutCheck: "sentences not judged"}
	var cuts []string
	for _, cut := range []string{topicqueue.CutReview, topicqueue.CutIterations, topicqueue.CutBlocks,
		topicqueue.CutReport, topicqueue.CutCheck} {
		if slices.Contains(run.Cuts, cut) {
			cuts = append(cuts, words[cut])
		}
	}
	var reasons []string
	if len(cuts) > 0 {
		reasons = append(reasons, budgetWords(run)+": "+strings.Join(cuts, ", "))
	}
	if slices.Contains(run.Cuts, topicqueue.CutTime) {
		reasons = append(reasons, "the deadline left less time than all runs take at full depth")
	}
	return strings.Join(reasons, "; ")
}
