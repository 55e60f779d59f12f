package estimate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/forecast"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// outlook is the basis of estimates: prices, and measurements from the queue.
type outlook struct {
	cfg       config.Config
	queue     *redisqueue.Queue // nil: no queue is reachable
	now       time.Time
	prices    llm.Prices
	models    map[llm.Role]string
	seen      forecast.Experience
	iteration time.Duration // average so far; 0: not measured
	slots     int           // slots of the running workers, or of one worker with this machine's settings
	working   bool          // workers are running
}

// newOutlook reads measurements from the queue. d is nil if no queue is reachable.
func newOutlook(ctx context.Context, cfg config.Config, d *wiring.Desk) (*outlook, error) {
	o := &outlook{cfg: cfg, now: time.Now(), models: map[llm.Role]string{}, slots: cfg.Worker.Concurrency}
	var err error
	if o.prices, err = llm.ParsePrices(cfg.LLM.Prices); err != nil {
		return nil, view.Usage(fmt.Errorf("llm.prices: %w", err))
	}
	for _, m := range wiring.RoleModels(cfg.LLM) {
		o.models[m.Role] = m.Name
	}
	if d == nil {
		return o, nil
	}
	o.queue = d.Queue
	stats, err := d.Queue.Stats(ctx)
	if err != nil {
		return nil, err
	}
	o.seen = forecast.ExperienceOf(stats.Models, func(r llm.Role) string { return o.models[r] })
	if stats.Iterations > 0 {
		o.iteration = stats.IterationTime / time.Duration(stats.Iterations)
	}
	workers, err := d.Queue.Workers(ctx)
	if err != nil {
		return nil, err
	}
	if workers.Slots > 0 {
		o.slots, o.working = workers.Slots, true
	}
	return o, nil
}

// assumptions lists the assumptions of the estimate.
func (o *outlook) assumptions() (out []string) {
	if len(o.seen) > 0 {
		out = append(out, "answers, and what tools return, as long as on the average of this desk so far")
	} else {
		out = append(out, forecast.AssumedLengths)
	}
	if o.iteration > 0 {
		out = append(out, fmt.Sprintf("iterations of %s, the average so far", o.iteration.Round(10*time.Millisecond)))
	} else {
		out = append(out, forecast.AssumedPace)
	}
	if o.working {
		return append(out,
			fmt.Sprintf("the %d slots of the workers that run now, and a model that accepts as many parallel calls", o.slots))
	}
	return append(out,
		fmt.Sprintf("one worker with %d slots (worker.concurrency), a model that accepts as many parallel calls", o.slots))
}

// estimate returns the estimate for a number of topics with each of the options, at the measured pace.
func (o *outlook) estimate(topics map[int]int, options []topicqueue.Options) (sum forecast.Estimate) {
	for number, n := range topics {
		sum.Add(forecast.Run(options[number], o.seen).Times(n))
	}
	return sum.AtPace(o.iteration)
}

// limitCheck states whether a budget or a deadline suffices for a list.
type limitCheck struct {
	What   string `json:"what"` // run budget, batch budget, night budget or deadline
	Has    string `json:"has"`
	Needs  string `json:"needs"`
	Enough bool   `json:"enough"`
	Do     string `json:"do,omitempty"` // advice if it does not suffice
}

func (l limitCheck) text() string {
	if l.Enough {
		return fmt.Sprintf("%s; %s needed: enough", l.Has, l.Needs)
	}
	return fmt.Sprintf("%s; %s needed: reports will be shorter. %s", l.Has, l.Needs, l.Do)
}

// checkLimits compares what a list needs at full depth with its budgets and deadlines. batch is empty for a new batch.
func (o *outlook) checkLimits(ctx context.Context, list *intake.List,
	batch string) ([]limitCheck, error) {
	out := []limitCheck{}
	options, topics := newTopics(list.Topics), 0
	for _, n := range options {
		topics += n
	}
	if topics == 0 || !o.cfg.LLM.Enabled() {
		return out, nil
	}
	all := o.estimate(options, list.Options)
	run, dearest := topicqueue.Options{}, int64(0) // the most expensive one; all have the same shared budgets
	for _, number := range slices.Sorted(maps.Keys(options)) {
		one := list.Options[number]
		amount, known := forecast.Run(one, o.seen).Amount(one.Limit(), o.prices, o.models)
		if one.Limit().Amount() > 0 && known && amount.Amount() > dearest {
			run, dearest = one, amount.Amount()
		}
	}
	if dearest > 0 && run.Budget.Amount() > 0 {
		needs := run.Budget.Of(dearest)
		out = append(out, compareLimit(limitCheck{What: "run budget", Has: roundBudget(run.Budget) + " each",
			Needs: roundBudget(needs) + " at most"}, run.Budget, needs, "--budget"))
	}
	common := func(what string, limit topicqueue.Budget, pool redisqueue.Pool, setting string) {
		needs, _ := all.Amount(limit, o.prices, o.models)
		left := limit.Of(max(0, limit.Amount()-pool.Spent-pool.Granted))
		has := roundBudget(limit)
		if left.Amount() < limit.Amount() {
			has = fmt.Sprintf("%s, of which %s is left", has, roundBudget(left))
		}
		words := "about " + roundBudget(needs)
		if pool.Waiting > 0 { // waiting runs are assumed to cost the same
			needs = limit.Of(needs.Amount() + needs.Amount()/int64(topics)*int64(pool.Waiting))
			words = fmt.Sprintf("about %s, with the %s that wait already", roundBudget(needs), view.Counted(pool.Waiting, "run"))
		}
		out = append(out, compareLimit(limitCheck{What: what, Has: has, Needs: words}, left, needs, setting))
	}
	if b := run.BatchBudget; b.Amount() > 0 {
		var pool redisqueue.Pool
		if o.queue != nil && batch != "" {
			var err error
			if pool, err = o.queue.BatchPool(ctx, batch); err != nil {
				return nil, err
			}
		}
		common("batch budget", b, pool, "--batch-budget")
	}
	waiting := 0
	if o.queue != nil {
		pool, err := o.queue.NightPool(ctx, o.now)
		if err != nil {
			return nil, err
		}
		waiting = pool.Waiting
		if b := run.NightBudget; b.Amount() > 0 {
			common("night budget", b, pool, "limits.night_budget")
		}
	}
	return append(out, o.checkDeadlines(list, all, topics, waiting)...), nil
}

// compareLimit completes c: it compares needs with left. If left is too small, it suggests an increase.
func compareLimit(c limitCheck, left, needs topicqueue.Budget, setting string) limitCheck {
	if c.Enough = needs.Amount() <= left.Amount(); !c.Enough {
		c.Do = fmt.Sprintf("For full depth, raise %s by %s, or use a smaller preset.", setting,
			roundBudget(needs.Of(needs.Amount()-left.Amount())))
	}
	return c
}

// checkDeadlines checks, earliest deadline first, whether the topics can be ready in time. waiting is the number of
// runs already in the queue, which are assumed to take as long as these.
func (o *outlook) checkDeadlines(list *intake.List, all forecast.Estimate, topics, waiting int) []limitCheck {
	var out []limitCheck
	due := map[time.Time][]intake.Topic{}
	for _, t := range list.Topics {
		if !t.Deadline.IsZero() && !t.Known {
			due[t.Deadline] = append(due[t.Deadline], t)
		}
	}
	var sooner []intake.Topic
	for _, at := range slices.SortedFunc(maps.Keys(due), time.Time.Compare) {
		sooner = append(sooner, due[at]...)
		sum := o.estimate(newTopics(sooner), list.Options)
		sum.Busy += all.Busy / time.Duration(topics) * time.Duration(waiting)
		left, took := at.Sub(o.now), sum.Took(o.slots)
		c := limitCheck{What: "deadline", Has: fmt.Sprintf("%s is in %s", at.Local().Format("2006-01-02 15:04"),
			max(0, left).Round(time.Second)),
			Needs: fmt.Sprintf("about %s with %d slots", took.Round(time.Second), o.slots), Enough: took <= left}
		if !c.Enough {
			c.Do = fmt.Sprintf("For full depth, start workers with %d slots in all, or use a smaller preset.",
				int(int64(sum.Busy)/max(1, int64(left)))+1)
			if sum.Chain > left {
				c.Do = "No number of workers makes a single run that fast: use a smaller preset or a later deadline."
			}
		}
		if len(out) == 0 || !c.Enough { // of the sufficient deadlines, report only the first
			out = append(out, c)
		}
		if !c.Enough {
			break
		}
	}
	return out
}

// Shortages returns, when topics are enqueued, the budgets and deadlines that do not suffice.
func Shortages(ctx context.Context, cfg config.Config, d *wiring.Desk, list *intake.List, batch string) (out []string,
	err error) {
	o, err := newOutlook(ctx, cfg, d)
	if err != nil {
		return nil, err
	}
	limits, err := o.checkLimits(ctx, list, batch)
	for _, l := range limits {
		if !l.Enough {
			out = append(out, l.What+": "+l.text())
		}
	}
	return out, err
}

// roundBudget formats an amount for people.
func roundBudget(b topicqueue.Budget) string {
	switch {
	case b.Money() && b.USD < 1:
		return strings.TrimSuffix(fmt.Sprintf("$%.4f", b.USD), "00")
	case b.Money():
		return fmt.Sprintf("$%.2f", b.USD)
	case b.Amount() == 0:
		return "nothing"
	}
	return inThousands(b.Tokens) + " tokens"
}
