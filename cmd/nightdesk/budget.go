package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
)

// budgetFlags adds the flags that say what a run may spend.
func budgetFlags(p *program, cmd *cobra.Command) {
	p.settingFlag(cmd, false, "budget", "limits.run_budget", "what a run may spend on models, in US dollars, such as 2.50")
	cmd.Flags().Func("budget-tokens", "the same in tokens, such as 2M", func(value string) error {
		b, err := topicqueue.ParseTokens(value)
		p.overrides["limits.run_budget"] = b.String()
		return err
	})
	cmd.MarkFlagsMutuallyExclusive("budget", "budget-tokens")
}

// addBatchBudget adds the flag that says what all runs of a batch may spend together.
func (f *topicFlags) addBatchBudget(cmd *cobra.Command) {
	cmd.Flags().Func("batch-budget",
		"what all runs of the batch may spend together: US dollars such as 20, or tokens such as \"20M tokens\"",
		func(value string) (err error) {
			f.batchBudget, err = topicqueue.ParseBudget(value)
			return err
		})
}

// checkBudgets refuses budgets that nobody could keep: in different units, or in money for models without a price.
func checkBudgets(cfg config.Config, o topicqueue.Options) error {
	limit := o.Limit()
	for _, b := range []topicqueue.Budget{o.BatchBudget, o.NightBudget} {
		if !limit.SameUnit(b) {
			return view.Usage(view.Hint(fmt.Errorf("a budget of %s beside one of %s: what a run spends is counted in one unit",
				limit, b),
				"Give all budgets (--budget, --batch-budget, limits.run_budget, limits.night_budget) in US dollars, or "+
					"all in tokens."))
		}
	}
	if !limit.Money() || !cfg.LLM.Enabled() {
		return nil
	}
	unknown, err := unpriced(cfg.LLM)
	if err != nil {
		return view.Usage(err)
	}
	if len(unknown) > 0 {
		return view.Usage(view.Hint(noPriceError(fmt.Sprintf("a budget of %s, and no price is known for %s", limit,
			strings.Join(unknown, ", "))), priceHint(unknown[0])))
	}
	return nil
}

// noPriceError says that a budget is in money and some model has no known price.
type noPriceError string

func (e noPriceError) Error() string { return string(e) }

// unpriced returns the models that are asked and have no known price.
func unpriced(models config.LLM) ([]string, error) {
	prices, err := llm.ParsePrices(models.Prices)
	if err != nil {
		return nil, fmt.Errorf("llm.prices: %w", err)
	}
	var unknown []string
	for _, m := range roleModels(models) {
		if _, known := prices.Cost(topicqueue.Usage{Model: m.Name}); !known && !slices.Contains(unknown, m.Name) {
			unknown = append(unknown, m.Name)
		}
	}
	return unknown, nil
}

func priceHint(model string) string {
	return fmt.Sprintf("Say it in US dollars per million tokens of question and answer, such as %s, or give the "+
		"budget in tokens.", priceExample(model))
}

func priceExample(model string) string { return fmt.Sprintf("LLM_PRICES='%s=0.50/1.50'", model) }

// checkPrices is doctor's check of what budgets in money need.
func checkPrices(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "prices"
	if !cfg.LLM.Enabled() {
		return nil
	}
	unknown, err := unpriced(cfg.LLM)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	if c, strange := strangePrices(cfg); strange {
		return []checkup{c}
	}
	if len(unknown) == 0 {
		return []checkup{{Name: name, Result: "ok", Text: "the price of every model is known"}}
	}
	c := checkup{Name: name, Result: "note",
		Text: fmt.Sprintf("no price is known for %s: costs cannot be shown, and budgets must be given in tokens",
			strings.Join(unknown, ", ")), Hint: priceHint(unknown[0])}
	if l := cfg.Limits; l.RunBudget.Money() || l.NightBudget.Money() {
		c.Result, c.Text = "failed",
			fmt.Sprintf("a budget is in US dollars, and no price is known for %s: nothing can be enqueued",
				strings.Join(unknown, ", "))
	}
	return []checkup{c}
}

// strangePrices reports prices of models that are not in use. llm.prices has been read once without an error.
func strangePrices(cfg config.Config) (c checkup, strange bool) {
	prices, _ := llm.ParsePrices(cfg.LLM.Prices)
	models := []string{cfg.Embedding.Model}
	for _, m := range roleModels(cfg.LLM) {
		models = append(models, m.Name)
	}
	names := prices.Strange(models)
	return checkup{Name: "prices", Result: "failed",
		Text: fmt.Sprintf("llm.prices names models that are not in use: %s; in use: %s",
			strings.Join(names, ", "), strings.Join(slices.Compact(slices.Sorted(slices.Values(models[1:]))), ", ")),
		Hint: "Correct the name in LLM_PRICES (llm.prices), or remove the entry."}, len(names) > 0
}

// spentOf says what a run has spent and may spend; both zero without a budget.
func spentOf(run topicqueue.Run) (spent, limit topicqueue.Budget) {
	unit := run.Options.Limit()
	if unit.Amount() == 0 {
		return topicqueue.Budget{}, topicqueue.Budget{}
	}
	limit = run.Options.Budget
	if run.Options.Common() && run.Limit > 1 { // its share
		limit = unit.Of(run.Limit)
	}
	return unit.Of(run.Spent), limit
}

// spentWords are "$0.12 of $2.50"; empty without a budget.
func spentWords(spent, limit topicqueue.Budget) string {
	if limit.Amount() == 0 {
		return ""
	}
	text := "nothing"
	if spent.Amount() > 0 {
		text = amountWords(spent)
	}
	return text + " of " + amountWords(limit)
}

// amountWords rounds money to what a person wants to know.
func amountWords(b topicqueue.Budget) string {
	if b.Money() {
		return fmt.Sprintf("$%.4f", b.USD)
	}
	return b.String()
}
