package wiring

import (
	"fmt"
	"slices"

	"nightdesk/config"
	"nightdesk/pipeline/llm"
	"nightdesk/topicqueue"
)

// Unpriced returns the configured models without a known price.
func Unpriced(models config.LLM) ([]string, error) {
	prices, err := llm.ParsePrices(models.Prices)
	if err != nil {
		return nil, fmt.Errorf("llm.prices: %w", err)
	}
	var unknown []string
	for _, m := range RoleModels(models) {
		if _, known := prices.Cost(topicqueue.Usage{Model: m.Name}); !known && !slices.Contains(unknown, m.Name) {
			unknown = append(unknown, m.Name)
		}
	}
	return unknown, nil
}

func PriceHint(model string) string {
	return fmt.Sprintf("Say it in US dollars per million tokens of question and answer, such as %s, or give the "+
		"budget in tokens.", PriceExample(model))
}

func PriceExample(model string) string { return fmt.Sprintf("LLM_PRICES='%s=0.50/1.50'", model) }
