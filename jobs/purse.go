package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/hibiken/asynq"

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
func (a *attempt) cost(calls ...askedCall) (sum int64) {
	for _, c := range calls {
		t := a.experience().tokens(c)
		one, _ := a.price(topicqueue.Usage{Model: a.w.modelOf(c.role)}, t.in, t.out)
		sum += one * int64(c.times)
	}
	return sum
}

// experience is what the attempt knows of calls of this desk.
func (a *attempt) experience() Experience {
	x, _ := a.seen.Load().(Experience)
	return x
}

// modelOf is the model that is asked in a role.
func (w *Worker) modelOf(role llm.Role) string {
	return llm.Most(w.Model, llm.Request{Role: role}).Model
}

// estimate says what parts of the run will probably cost. evidence: bytes of statements that its report is made from;
// sections: of its report.
func (a *attempt) estimate(evidence, sections int) topicqueue.Estimate {
	o := a.Run.Options
	report := a.cost(reportCalls(sections, evidence)...)
	e := topicqueue.Estimate{PerByte: float64(a.cost(reportCalls(sections, evidence+evidenceOfIteration)...)-
		report) / evidenceOfIteration}
	// without which the last answer may be shortened
	room, _ := a.price(topicqueue.Usage{Model: a.w.modelOf(llm.Writer)}, 0, a.experience().usual(llm.Writer))
	e.Report = int64(reportShare*float64(report)) + room
	e.Iteration = a.cost(noteCall, decideCall(max(1, len(a.View.Blocks), o.SubTopics)*o.MaxIterations)) +
		int64(e.PerByte*evidenceOfIteration)
	return e
}

// purse says where the run stands with its budget and what is to come. Of a budget that it shares with others it draws
// its share first. What the report takes is from now on kept out of the reach of the attempt's calls. more: blocks
// that the run would like to have besides.
func (a *attempt) purse(ctx context.Context, more int) (p topicqueue.Purse, e topicqueue.Estimate, err error) {
	look := func(share int64) {
		err = a.w.steady(ctx, "look at the budget", func(ctx context.Context) (err error) {
			p, err = a.w.Queue.Purse(ctx, a.Run.ID, share, "")
			return err
		})
	}
	figures, _ := a.w.figures.look(ctx, a.w)
	a.seen.Store(ExperienceOf(figures.Models, a.w.modelOf))
	if look(0); err != nil {
		return p, e, err
	}
	sections := 0
	for _, b := range p.Blocks {
		if !b.Ended || b.Iterations > 0 {
			sections++
		}
	}
	e = a.estimate(p.Evidence, max(1, sections))
	if a.Run.Options.Common() {
		var share int64
		err = a.w.steady(ctx, "draw on the budget", func(ctx context.Context) (err error) {
			share, err = a.draw(ctx, p, e, more)
			return err
		})
		if err == nil {
			look(share)
		}
	}
	a.stay.Store(e.Report)
	return p, e, err
}

// draw returns what the run may spend by its share of the budgets of its batch and its night.
func (a *attempt) draw(ctx context.Context, p topicqueue.Purse, e topicqueue.Estimate,
	more int) (share int64, err error) {
	o := a.Run.Options
	claim := a.claim(p, e, more)
	bound := boundByRun
	if claim.Limit = o.BatchBudget.Amount(); claim.Limit > 0 {
		if share, err = a.w.Queue.DrawBatch(ctx, a.Run, claim); err != nil {
			return 0, err
		}
		bound = boundByBatch
	}
	if claim.Limit = o.NightBudget.Amount(); claim.Limit > 0 {
		night, err := a.w.Queue.DrawNight(ctx, a.Run, a.w.night(a.Run), claim)
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
	a.bound.Store(bound)
	return share, nil
}

// claim is what the run asks of a budget that it shares.
func (a *attempt) claim(p topicqueue.Purse, e topicqueue.Estimate, more int) redisqueue.Claim {
	o := a.Run.Options
	all := a.cost(planCalls(o, o.SubTopics)...)
	least := a.estimate(evidenceOfIteration, 1)
	claim := redisqueue.Claim{Spent: p.Spent, Least: all + least.Iteration + least.Report}
	var rest int64
	if len(p.Blocks) == 0 {
		full := a.estimate(0, o.SubTopics)
		rest, claim.Needs = all+int64(o.SubTopics*o.MaxIterations)*full.Iteration+full.Report, claim.Least
	} else {
		rest, claim.Needs = p.Rest(o.MaxIterations, e), p.Spent+p.Rest(0, e)
	}
	if o.MaxLoops > 0 {
		rest += a.cost(reviewCall) * int64(o.MaxLoops)
	}
	blocks := cmp.Or(len(p.Blocks), o.SubTopics)
	rest += a.cost(judgeCall(max(p.Evidence, blocks*o.MaxIterations*evidenceOfIteration)))
	wants := func(more int) int64 {
		return p.Spent + int64(spareShare*float64(rest)) + int64(more)*p.Block(o.MaxIterations, e)
	}
	claim.Wants, claim.High = wants(more), wants(more)
	// a high one holds from the beginning what others ask for when they need it
	if o.MaxLoops > 0 && a.Lease.Unit != redisqueue.UnitReport {
		claim.High = wants(max(more, 1))
	}
	if a.Run.Lane == LaneHigh {
		claim.Wants = claim.High
	}
	claim.Spare = 4 * a.longest(llm.Planner) // so that none of its answers is bounded, see redisqueue.Reserve
	if a.Lease.Unit == redisqueue.UnitReport {
		claim.Spare = 4 * a.longest(llm.Writer)
	}
	return claim
}

// errHeld: others hold what a run is to have of a common budget.
var errHeld = errors.New("it waits for its share of a budget, which others hold and will give back")

// whenAffordable lets planning begin when the run finds its share of the budgets of its batch and its night; until
// then its task is tried again and again, and its time does not begin.
func (w *Worker) whenAffordable(begin asynq.HandlerFunc) asynq.HandlerFunc {
	return func(ctx context.Context, task *asynq.Task) error {
		var p payload
		if w.Model == nil || json.Unmarshal(task.Payload(), &p) != nil {
			return begin(ctx, task)
		}
		run, err := w.Queue.Run(w.work, p.RunID)
		if err != nil || run.State != topicqueue.RunQueued || !run.Options.Common() {
			return begin(ctx, task) // which says what is wrong
		}
		a := &attempt{Begun: redisqueue.Begun{Run: run}, w: w}
		figures, _ := w.figures.look(w.work, w)
		a.seen.Store(ExperienceOf(figures.Models, w.modelOf))
		switch ok, err := w.Queue.MayBegin(w.work, run, w.night(run),
			a.claim(topicqueue.Purse{}, topicqueue.Estimate{}, 0)); {
		case err != nil:
			return err
		case !ok:
			return errHeld
		}
		return begin(ctx, task)
	}
}

// Whose budget allows a run least.
const (
	boundByRun   = "run"
	boundByBatch = "batch"
	boundByNight = "night"
)

// boundBy says whose budget that is, as of the last look.
func (a *attempt) boundBy() string {
	if bound, ok := a.bound.Load().(string); ok {
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
func (a *attempt) longest(role llm.Role) int64 {
	most := llm.Most(a.w.Model, llm.Request{Role: role})
	cost, _ := a.price(most, 0, cmp.Or(most.CompletionTokens, longestAnswer))
	return cost
}

// cut notes what the budget has cut.
func (a *attempt) cut(ctx context.Context, what string) {
	if slices.Contains(a.Run.Cuts, what) {
		return
	}
	err := a.w.steady(ctx, "note what the budget has cut", func(ctx context.Context) error {
		// told first, and again as the same event: an attempt that finds it noted tells nobody
		if what != topicqueue.CutTime {
			if err := a.w.tellBudget(ctx, a, what); away(err) {
				return err
			} else if err != nil {
				a.w.Log.Warn().Err(err).Str("run", a.Run.ID).Msg("nobody is told that the budget is reached")
			}
		}
		_, err := a.w.Queue.Purse(ctx, a.Run.ID, 0, what)
		return err
	})
	if err != nil {
		a.w.Log.Warn().Err(err).Str("run", a.Run.ID).Str("cut", what).Msg("not noted what the budget has cut")
	}
}

// affordable returns how many sub-topics the budget allows, at most so many, each with one iteration and its part of
// the report.
func (a *attempt) affordable(p topicqueue.Purse, most int) int {
	if p.Limit == 0 {
		return most
	}
	limit := p.Limit
	if a.Run.Options.Common() {
		limit = int64(hope * float64(limit))
	}
	n := most
	for n > 1 {
		e := a.estimate(0, n)
		if p.Spent+a.cost(planCalls(a.Run.Options, n)...)+int64(n)*e.Iteration+e.Report <= limit {
			break
		}
		n--
	}
	return n
}

// mayIterate reports whether budget and time allow the attempt's block another iteration. A run without any evidence
// has nothing to keep money for: it looks for some as far as that goes, and then without the model.
func (a *attempt) mayIterate(ctx context.Context, k int) (bool, error) {
	if !a.hasTime(ctx, k) {
		return false, nil
	}
	if !a.budgeted() {
		return true, nil
	}
	p, e, err := a.purse(ctx, 0)
	if err != nil || p.MayIterate(a.Block.Number(), k, e) {
		return err == nil, err
	}
	if p.Evidence == 0 {
		a.stay.Store(0)
		return true, nil
	}
	if k == 1 {
		a.cut(ctx, topicqueue.CutBlocks)
	} else {
		a.cut(ctx, topicqueue.CutIterations)
	}
	return false, nil
}

// roomFor returns how many more blocks the budget allows, of so many that are wanted; below 0: any number.
func (a *attempt) roomFor(ctx context.Context, wanted int) (int, error) {
	if !a.budgeted() {
		return -1, nil
	}
	p, e, err := a.purse(ctx, wanted)
	if err != nil {
		return 0, err
	}
	if a.Lease.Unit == redisqueue.UnitReview {
		e.Report += a.cost(reviewCall)
	}
	return p.Room(a.Run.Options.MaxIterations, e), nil
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
