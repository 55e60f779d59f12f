package topicqueue

import "time"

// Usage is the cost of one model call.
type Usage struct {
	Role             string `json:"role"`  // planner, researcher, note, writer, judge
	Stage            string `json:"stage"` // planning, researching, reviewing, reporting
	Step             string `json:"step"`  // prompt name: decompose, decide, note, review, section, ...
	Block            string `json:"block_id,omitempty"`
	Model            string `json:"model"`
	PromptTokens     int    `json:"prompt_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
	// of PromptTokens: read from the provider's prompt cache
	CachedTokens     int  `json:"cached_tokens,omitempty"`
	CacheWriteTokens int  `json:"cache_write_tokens,omitempty"` // of PromptTokens: written to that cache
	Estimated        bool `json:"estimated,omitempty"`          // the provider reported no figures
	// CompletionTokens exceed the requested limit
	OverLimit bool      `json:"over_limit,omitempty"`
	Failed    bool      `json:"failed,omitempty"` // no answer arrived; tokens are 0
	CostUSD   *float64  `json:"cost_usd"`         // nil: price unknown
	TookMS    int64     `json:"took_ms"`
	Timestamp time.Time `json:"timestamp"`
}

// AddTokens adds the tokens of another call, or of another try of the same call.
func (u *Usage) AddTokens(o Usage) {
	u.PromptTokens += o.PromptTokens
	u.CompletionTokens += o.CompletionTokens
	u.CachedTokens += o.CachedTokens
	u.CacheWriteTokens += o.CacheWriteTokens
	u.Estimated = u.Estimated || o.Estimated
}

// Totals are the sums of model calls.
type Totals struct {
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

// Total returns the sums of the calls that of selects; nil: of all calls.
func Total(calls []Usage, of func(Usage) bool) (t Totals) {
	for _, u := range calls {
		if of == nil || of(u) {
			t.Add(u)
		}
	}
	return t
}

// Add adds a call.
func (t *Totals) Add(u Usage) {
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
