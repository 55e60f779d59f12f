package bundle

import "nightdesk/topicqueue"

// usageTotals are totals of model calls.
type usageTotals struct {
	Calls            int     `json:"total_calls"`
	Failed           int     `json:"failed_calls"`
	PromptTokens     int     `json:"total_prompt_tokens"`
	CompletionTokens int     `json:"total_completion_tokens"`
	CachedTokens     int     `json:"total_cached_tokens"` // part of the prompt tokens, read from the provider's cache
	Tokens           int     `json:"total_tokens"`
	Estimated        int     `json:"estimated_calls"` // calls without token counts from the provider
	CostUSD          float64 `json:"total_cost_usd"`  // of calls whose model has a known price
	Unpriced         int     `json:"unpriced_calls"`  // other calls
}

func total(usage []topicqueue.Usage) usageTotals {
	var t usageTotals
	for _, u := range usage {
		t.add(u)
	}
	return t
}

func (t *usageTotals) add(u topicqueue.Usage) {
	t.Calls++
	t.PromptTokens += u.PromptTokens
	t.CompletionTokens += u.CompletionTokens
	t.CachedTokens += u.CachedTokens
	t.Tokens += u.PromptTokens + u.CompletionTokens
	if u.Failed {
		t.Failed++
	}
	if u.Estimated {
		t.Estimated++
	}
	if u.CostUSD != nil {
		t.CostUSD += *u.CostUSD
	} else {
		t.Unpriced++
	}
}

type costFile struct {
	Summary costSummary        `json:"summary"`
	Records []topicqueue.Usage `json:"records"`
}

type costSummary struct {
	usageTotals
	ByRole  map[string]*usageTotals `json:"by_role"`
	ByStage map[string]*usageTotals `json:"by_stage"`
	ByModel map[string]*usageTotals `json:"by_model"`
}

func costs(usage []topicqueue.Usage) costFile {
	s := costSummary{usageTotals: total(usage), ByRole: map[string]*usageTotals{}, ByStage: map[string]*usageTotals{},
		ByModel: map[string]*usageTotals{}}
	for _, u := range usage {
		for _, group := range []struct {
			totals map[string]*usageTotals
			name   string
		}{{s.ByRole, u.Role}, {s.ByStage, u.Stage}, {s.ByModel, u.Model}} {
			if group.totals[group.name] == nil {
				group.totals[group.name] = &usageTotals{}
			}
			group.totals[group.name].add(u)
		}
	}
	return costFile{Summary: s, Records: list(usage)}
}
