package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/llm"
)

// checkPrices checks that model prices are known, which budgets in money require.
func checkPrices(_ context.Context, cfg config.Config, _ *view.Console) []checkup {
	const name = "prices"
	if !cfg.LLM.Enabled() {
		return nil
	}
	unknown, err := wiring.Unpriced(cfg.LLM)
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
			strings.Join(unknown, ", ")), Hint: wiring.PriceHint(unknown[0])}
	if l := cfg.Limits; l.RunBudget.Money() || l.NightBudget.Money() {
		c.Result, c.Text = "failed",
			fmt.Sprintf("a budget is in US dollars, and no price is known for %s: nothing can be enqueued",
				strings.Join(unknown, ", "))
	}
	return []checkup{c}
}

// strangePrices reports prices of models that are not in use. Its caller has checked that llm.prices is valid.
func strangePrices(cfg config.Config) (c checkup, strange bool) {
	prices, _ := llm.ParsePrices(cfg.LLM.Prices)
	models := []string{cfg.Embedding.Model}
	for _, m := range wiring.RoleModels(cfg.LLM) {
		models = append(models, m.Name)
	}
	names := prices.Strange(models)
	return checkup{Name: "prices", Result: "failed",
		Text: fmt.Sprintf("llm.prices names models that are not in use: %s; in use: %s",
			strings.Join(names, ", "), strings.Join(slices.Compact(slices.Sorted(slices.Values(models[1:]))), ", ")),
		Hint: "Correct the name in LLM_PRICES (llm.prices), or remove the entry."}, len(names) > 0
}
