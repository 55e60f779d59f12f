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
	// spareShare is what a run asks of a common budget beyond what it will probably take: it asks again before each
	// iteration, and what it does not use is there again for others.
	spareShare = 1.1
	// reportShare is what is kept for a report, of what it will probably take.
	reportShare = 1.1
	// hope is by how much the share of a run will probably grow as others give back what they have asked too much.
	hope = 1.2
)

// cost returns what calls take from the budget of the run; 0 where the price is not known, of which each call is told.
func (b *budget) cost(calls ...askedCall) (sum int64) {
	for _, c := range calls {
		t := b.experience().tokens(c)
		one, _ := b.price(topicqueue.Usage{Model: b.modelOf(c.role)}, t.in, t.out)
		sum += one * int64(c.times)
	}
	return sum
}

// experience is what the attempt knows of calls of this desk.
func (b *budget) experience() Experience {
	x, _ := b.seen.Load().(Experience)
	return x
}

// lookAround learns what calls of this desk have taken until now.
func (b *budget) lookAround(ctx context.Context) {
	figures, _ := b.figures.look(ctx)
	b.seen.Store(ExperienceOf(figures.Models, b.modelOf))
}

// modelOf is the model that is asked in a role.
func (b *budget) modelOf(role llm.Role) string {
	return llm.Most(b.model, llm.Request{Role: role}).Model
}

// estimate says what parts of the run will probably cost. evidence: bytes of statements that its report is made from;
// sections: of its report.
func (b *budget) estimate(evidence, sections int) topicqueue.Estimate {
	o := b.a.Run.Options
	if o.Path == topicqueue.PathShallow { // the answer is the report; its check is not paid for before
		return topicqueue.Estimate{Iteration: b.cost(answerCalls...)}
	}
	report := b.cost(reportCalls(sections, evidence)...)
	e := topicqueue.Estimate{PerByte: float64(b.cost(reportCalls(sections, evidence+evidenceOfIteration)...)-
		report) / evidenceOfIteration}
	// without which the last answer may be shortened
	room, _ := b.price(topicqueue.Usage{Model: b.modelOf(llm.Writer)}, 0, b.experience().usual(llm.Writer))
	e.Report = int64(reportShare*float64(report)) + room
	e.Iteration = b.cost(noteCall, decideCall(max(1, len(b.a.View.Blocks), o.SubTopics)*o.MaxIterations)) +
		int64(e.PerByte*evidenceOfIteration)
	return e
}

// purse says where the run stands with its budget and what is to come. Of a budget that it shares with others it draws
// its share first. What the report takes is from now on kept out of the reach of the attempt's calls. more: blocks
// that the run would like to have besides.
func (b *budget) purse(ctx context.Context, more int) (p topicqueue.Purse, e topicqueue.Estimate, err error) {
	look := func(share int64) {
		err = steady(ctx, "look at the budget", func(ctx context.Context) (err error) {
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
		err = steady(ctx, "draw on the budget", func(ctx context.Context) (err error) {
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

// draw returns what the run may spend by its share of the budgets of its batch and its night.
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

// claim is what the run asks of a budget that it shares.
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
	// a high one holds from the beginning what others ask for when they need it
	if o.MaxLoops > 0 && b.a.Lease.Unit != redisqueue.UnitReport {
		claim.High = wants(max(more, 1))
	}
	if b.a.Run.Lane == LaneHigh {
		claim.Wants = claim.High
	}
	claim.Spare = 4 * b.longest(llm.Planner) // so that none of its answers is bounded, see redisqueue.Reserve
	if b.a.Lease.Unit == redisqueue.UnitReport {
		claim.Spare = 4 * b.longest(llm.Writer)
	}
	return claim
}

// errHeld: others hold what a run is to have of a common budget.
var errHeld = errors.New("it waits for its share of the budget, which other runs hold")

// Whose budget allows a run least.
const (
	boundByRun   = "run"
	boundByBatch = "batch"
	boundByNight = "night"
)

// boundBy says whose budget that is, as of the last look.
func (b *budget) boundBy() string {
	if bound, ok := b.bound.Load().(string); ok {
		return bound
	}
	return boundByRun
}

// budgetWords name the budget that allowed a run least in the end.
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

// longest is what the longest answer of a role costs.
func (b *budget) longest(role llm.Role) int64 {
	most := llm.Most(b.model, llm.Request{Role: role})
	cost, _ := b.price(most, 0, cmp.Or(most.CompletionTokens, longestAnswer))
	return cost
}

// cut notes what the budget has cut.
func (b *budget) cut(ctx context.Context, what string) {
	if slices.Contains(b.a.Run.Cuts, what) {
		return
	}
	err := steady(ctx, "record what the budget has cut", func(ctx context.Context) error {
		// told first, and again as the same event: an attempt that finds it noted tells nobody
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

// affordable returns how many sub-topics the budget allows, at most so many, each with one iteration and its part of
// the report.
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

// mayIterate reports whether budget and time allow the attempt's block another iteration. A run without any evidence
// has nothing to keep money for: it looks for some as far as that goes, and then without the model.
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

// roomFor returns how many more blocks the budget allows, of so many that are wanted; below 0: any number.
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

// budgetReason says what budget and deadline have cut; empty when nothing.
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
