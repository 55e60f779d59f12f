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
