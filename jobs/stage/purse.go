package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"nightdesk/jobs/forecast"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/steady"
	"nightdesk/jobs/tasks"
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
func (b *Budget) cost(calls ...forecast.Call) (sum int64) {
	for _, c := range calls {
		t := b.experience().Tokens(c)
		one, _ := b.price(topicqueue.Usage{Model: b.modelOf(c.Role)}, t.In, t.Out)
		sum += one * int64(c.Times)
	}
	return sum
}

// experience returns the attempt's figures on past calls of this installation.
func (b *Budget) experience() forecast.Experience {
	x, _ := b.seen.Load().(forecast.Experience)
	return x
}

// lookAround updates the attempt's figures on past calls of this installation.
func (b *Budget) lookAround(ctx context.Context) {
	figures, _ := b.a.runner.figures.look(ctx)
	b.seen.Store(forecast.ExperienceOf(figures.Models, b.modelOf))
}

// modelOf returns the model used for a role.
func (b *Budget) modelOf(role llm.Role) string {
	return llm.Most(b.a.Model, llm.Request{Role: role}).Model
}

// estimate returns the probable cost of parts of the run. evidence: bytes of statements that the report is written
// from; sections: number of sections of the report.
func (b *Budget) estimate(evidence, sections int) topicqueue.Estimate {
	o := b.a.Run.Options
	if o.Path == topicqueue.PathShallow { // the answer is the report; its check is not reserved in advance
		return topicqueue.Estimate{Iteration: b.cost(forecast.Answer...)}
	}
	report := b.cost(forecast.Report(sections, evidence)...)
	e := topicqueue.Estimate{PerByte: float64(b.cost(forecast.Report(sections, evidence+forecast.EvidenceOfIteration)...)-
		report) / forecast.EvidenceOfIteration}
	// without this room, the last answer may be shortened
	room, _ := b.price(topicqueue.Usage{Model: b.modelOf(llm.Writer)}, 0, b.experience().Usual(llm.Writer))
	e.Report = int64(reportShare*float64(report)) + room
	e.Iteration = b.cost(forecast.Note, forecast.Decide(max(1, len(b.a.View.Blocks), o.SubTopics)*o.MaxIterations)) +
		int64(e.PerByte*forecast.EvidenceOfIteration)
	return e
}

// purse returns the state of the run's budget and the estimated cost of further work. If the budget is shared, purse
// draws the run's share first. From now on, the attempt's calls cannot spend the estimated cost of the report. more:
// number of additional blocks that the run would like.
func (b *Budget) purse(ctx context.Context, more int) (p topicqueue.Purse, e topicqueue.Estimate, err error) {
	look := func(share int64) (topicqueue.Purse, error) {
		return steady.Get(ctx, "read the budget", func(ctx context.Context) (topicqueue.Purse, error) {
			return b.a.Queue.Purse(ctx, b.a.Run.ID, share, "")
		})
	}
	b.lookAround(ctx)
	if p, err = look(0); err != nil {
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
		if share, err = steady.Get(ctx, "draw the run's share of the budget", func(ctx context.Context) (int64, error) {
			return b.draw(ctx, p, e, more)
		}); err == nil {
			p, err = look(share)
		}
	}
	b.stay.Store(e.Report)
	return p, e, err
}

// draw returns the run's share of the budgets of its batch and its night.
func (b *Budget) draw(ctx context.Context, p topicqueue.Purse, e topicqueue.Estimate,
	more int) (share int64, err error) {
	o := b.a.Run.Options
	claim := b.claim(p, e, more)
	bound := boundByRun
	if claim.Limit = o.BatchBudget.Amount(); claim.Limit > 0 {
		if share, err = b.a.Queue.DrawBatch(ctx, b.a.Run, claim); err != nil {
			return 0, err
		}
		bound = boundByBatch
	}
	if claim.Limit = o.NightBudget.Amount(); claim.Limit > 0 {
		night, err := b.a.Queue.DrawNight(ctx, b.a.Run, NightOf(b.a.Run, b.a.Now()), claim)
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
func (b *Budget) claim(p topicqueue.Purse, e topicqueue.Estimate, more int) redisqueue.Claim {
	o := b.a.Run.Options
	all := b.cost(forecast.Plan(o, o.SubTopics)...)
	least := b.estimate(forecast.EvidenceOfIteration, 1)
	claim := redisqueue.Claim{Spent: p.Spent, Least: all + least.Iteration + least.Report}
	var rest int64
	if len(p.Blocks) == 0 {
		full := b.estimate(0, o.SubTopics)
		rest, claim.Needs = all+int64(o.SubTopics*o.MaxIterations)*full.Iteration+full.Report, claim.Least
	} else {
		rest, claim.Needs = p.Rest(o.MaxIterations, e), p.Spent+p.Rest(0, e)
	}
	evidence := max(p.Evidence, cmp.Or(len(p.Blocks), o.SubTopics)*o.MaxIterations*forecast.EvidenceOfIteration)
	rest += b.cost(forecast.Review(evidence)) * int64(1+o.MaxLoops)
	rest += b.cost(forecast.Judge(evidence))
	wants := func(more int) int64 {
		return p.Spent + int64(spareShare*float64(rest)) + int64(more)*p.Block(o.MaxIterations, e)
	}
	claim.Wants, claim.High = wants(more), wants(more)
	// a high-priority run holds from the start the amount that other runs request when needed
	if o.MaxLoops > 0 && b.a.stage.Cut != topicqueue.CutReport {
		claim.High = wants(max(more, 1))
	}
	if b.a.Run.Lane == tasks.LaneHigh {
		claim.Wants = claim.High
	}
	claim.Spare = 4 * b.longest(llm.Planner) // so that none of its answers is limited, see redisqueue.Reserve
	if b.a.stage.Cut == topicqueue.CutReport {
		claim.Spare = 4 * b.longest(llm.Writer)
	}
	return claim
}

// Values of boundBy.
const (
	boundByRun   = "run"
	boundByBatch = "batch"
	boundByNight = "night"
)

// boundBy returns whose budget allows the run least, as of the last look.
func (b *Budget) boundBy() string {
	if bound, ok := b.bound.Load().(string); ok {
		return bound
	}
	return boundByRun
}

// longest returns the cost of the longest answer of a role.
func (b *Budget) longest(role llm.Role) int64 {
	most := llm.Most(b.a.Model, llm.Request{Role: role})
	cost, _ := b.price(most, 0, cmp.Or(most.CompletionTokens, longestAnswer))
	return cost
}

// Cut records a cut caused by the budget.
func (b *Budget) Cut(ctx context.Context, what string) {
	if slices.Contains(b.a.Run.Cuts, what) {
		return
	}
	err := steady.Do(ctx, "record the cuts by the budget", func(ctx context.Context) error {
		// notify first; a repetition sends the same event, because an attempt that finds the cut recorded sends none
		if what != topicqueue.CutTime {
			if err := b.tell(ctx, what); steady.Away(err) {
				return err
			} else if err != nil {
				b.a.Log.Warn().Err(err).Str("run", b.a.Run.ID).Msg("budget.reached event not sent")
			}
		}
		_, err := b.a.Queue.Purse(ctx, b.a.Run.ID, 0, what)
		return err
	})
	if err != nil {
		b.a.Log.Warn().Err(err).Str("run", b.a.Run.ID).Str("cut", what).Msg("cuts by the budget not recorded")
	}
}

// Look updates the attempt's knowledge of the run's budget. From now on its calls leave the cost of the report.
func (b *Budget) Look(ctx context.Context) error {
	if !b.budgeted() {
		return nil
	}
	_, _, err := b.purse(ctx, 0)
	return err
}

// LookForReport is Look for the report itself, which may spend what was kept for it.
func (b *Budget) LookForReport(ctx context.Context) error {
	err := b.Look(ctx)
	if err == nil {
		b.stay.Store(0)
	}
	return err
}

// SubTopics returns how many of the wanted sub-topics money and time allow.
func (b *Budget) SubTopics(ctx context.Context, wanted int) (int, error) {
	n := wanted
	if b.budgeted() {
		purse, _, err := b.purse(ctx, 0)
		if err != nil {
			return 0, err
		}
		if n = b.affordable(purse, wanted); n < wanted {
			b.Cut(ctx, topicqueue.CutBlocks)
		}
	}
	if paced := b.pace(ctx).Breadth(n); paced < n {
		b.Cut(ctx, topicqueue.CutTime)
		return paced, nil
	}
	return n, nil
}

// Ready returns an error while a run must wait for its share of the budgets of its batch and its night. Until then its
// time does not start.
func (r *Runner) Ready(ctx context.Context, runID string) error {
	if r.Model == nil {
		return nil
	}
	run, err := r.Queue.Run(ctx, runID)
	if err != nil || run.State != topicqueue.RunQueued || !run.Options.Common() {
		return nil // the attempt reports the error
	}
	b := r.newAttempt(redisqueue.Begun{Run: run}, Stage{}).Budget
	b.lookAround(ctx)
	ok, err := r.Queue.MayBegin(ctx, run, NightOf(run, r.Now()), b.claim(topicqueue.Purse{}, topicqueue.Estimate{}, 0))
	if err == nil && !ok {
		return ErrHeld
	}
	return err
}

// affordable returns how many sub-topics the budget allows, at most most. Each gets one iteration and its part of the
// report.
func (b *Budget) affordable(p topicqueue.Purse, most int) int {
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
		if p.Spent+b.cost(forecast.Plan(b.a.Run.Options, n)...)+int64(n)*e.Iteration+e.Report <= limit {
			break
		}
		n--
	}
	return n
}

// MayIterate reports whether budget and time allow the attempt's block another iteration. A run without evidence has no
// report to keep money for: it searches until the money is spent, and then without the model.
func (b *Budget) MayIterate(ctx context.Context, k int) (bool, error) {
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
		b.Cut(ctx, topicqueue.CutBlocks)
	} else {
		b.Cut(ctx, topicqueue.CutIterations)
	}
	return false, nil
}

// RoomFor returns how many of the wanted additional blocks the budget allows; negative = any number.
func (b *Budget) RoomFor(ctx context.Context, wanted int) (int, error) {
	if !b.budgeted() {
		return -1, nil
	}
	p, e, err := b.purse(ctx, wanted)
	if err != nil {
		return 0, err
	}
	if b.a.Lease.Unit == redisqueue.UnitReview {
		e.Report += b.cost(forecast.Review(p.Evidence))
	}
	return p.Room(b.a.Run.Options.MaxIterations, e), nil
}

// budgetReached is the data of the event budget.reached.
type budgetReached struct {
	Budget string            `json:"budget"`          // run, batch or night
	Limit  topicqueue.Budget `json:"limit"`           // in USD or in tokens
	Night  string            `json:"night,omitempty"` // the date on which it began
	Batch  string            `json:"batch"`
	RunID  string            `json:"run_id"` // the first run that is cut because of it
	Topic  string            `json:"topic"`
	// first cut of this run: see topicqueue.CutReview
	Cut string `json:"cut"`
}

// tell announces that a run does less because of a budget. It is sent once for everything that this budget cuts, for
// any number of runs.
func (b *Budget) tell(ctx context.Context, what string) error {
	a := b.a
	o := a.Run.Options
	e := budgetReached{RunID: a.Run.ID, Batch: a.Run.Batch, Topic: topicqueue.Clip(a.Run.Topic, notify.MaxText), Cut: what}
	var subject string
	switch e.Budget = b.boundBy(); e.Budget {
	case boundByNight:
		e.Limit, e.Night = o.NightBudget, redisqueue.Night(NightOf(a.Run, b.a.Now()))
		subject = fmt.Sprintf("night/%s/%s", e.Night, e.Limit)
	case boundByBatch:
		e.Limit = o.BatchBudget
		subject = fmt.Sprintf("batch/%s/%s", a.Run.Batch, e.Limit)
	default:
		e.Limit = o.Budget
		subject = fmt.Sprintf("%s/%d", a.Run.ID, a.Epoch)
	}
	return a.Dispatcher.Notify(ctx, notify.Event{Type: notify.BudgetReached, Subject: subject, Time: b.a.Now(), Data: e})
}
