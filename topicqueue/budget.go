package topicqueue

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Budget is the amount that may be spent on models, in tokens or money. The zero value is no limit. Amounts are whole
// numbers in the budget's unit: tokens, or billionths of a US dollar, so that sums are exact.
type Budget struct {
	Tokens int64   `json:"tokens,omitempty"` // of questions and answers together
	USD    float64 `json:"usd,omitempty"`    // used only if Tokens is 0
}

// billion is the number of accounting units per US dollar.
const billion = 1e9

// Amount returns the limit in the unit of the budget; 0: no limit.
func (b Budget) Amount() int64 {
	if b.Tokens > 0 {
		return b.Tokens
	}
	return int64(math.Round(b.USD * billion))
}

// Money reports whether the budget is in US dollars.
func (b Budget) Money() bool { return b.Tokens == 0 && b.USD > 0 }

// SameUnit reports whether amounts of both budgets can be compared. A budget without a limit compares with any.
func (b Budget) SameUnit(o Budget) bool {
	return b.Amount() == 0 || o.Amount() == 0 || b.Money() == o.Money()
}

// Cost returns the cost of a call in the unit of the budget. It returns false if the call's price is needed but
// unknown.
func (b Budget) Cost(u Usage) (int64, bool) {
	switch {
	case b.Amount() == 0:
		return 0, true
	case !b.Money():
		return int64(u.PromptTokens) + int64(u.CompletionTokens), true
	case u.CostUSD == nil:
		return 0, false
	}
	return int64(math.Ceil(*u.CostUSD*billion - 1e-6)), true
}

// Of returns a Budget of the given amount in b's unit.
func (b Budget) Of(amount int64) Budget {
	if b.Money() {
		return Budget{USD: float64(amount) / billion}
	}
	return Budget{Tokens: amount}
}

// String returns the form that ParseBudget reads: "$2.50" or "2000000 tokens"; empty for no limit.
func (b Budget) String() string {
	switch {
	case b.Amount() == 0:
		return ""
	case b.Money():
		text := strconv.FormatFloat(b.USD, 'f', -1, 64)
		if whole, cents, ok := strings.Cut(text, "."); !ok || len(cents) < 2 {
			text = whole + "." + (cents + "00")[:2]
		}
		return "$" + text
	}
	return strconv.FormatInt(b.Tokens, 10) + " tokens"
}

// BudgetAllowed describes the input of ParseBudget, for messages.
const BudgetAllowed = "US dollars such as 2.50, or tokens such as 2M tokens; empty: no limit"

// ParseBudget parses an amount of money, "2.50" or "$2.50", or of tokens, "2M tokens", "500k tokens". An empty text
// is the zero Budget.
func ParseBudget(text string) (Budget, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Budget{}, nil
	}
	if number, ok := strings.CutSuffix(strings.TrimSuffix(text, "s"), "token"); ok {
		return ParseTokens(number)
	}
	usd, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || !(usd >= 1e-6 && usd <= 1e6) { // written so that NaN fails
		return Budget{}, fmt.Errorf("%q is not a budget: it must be %s", Clip(text, 40), BudgetAllowed)
	}
	return Budget{USD: math.Round(usd*billion) / billion}, nil
}

// ParseTokens parses a number of tokens: 2000000, 2M or 500k.
func ParseTokens(text string) (Budget, error) {
	number, factor := strings.TrimSpace(text), 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6} {
		if head, ok := strings.CutSuffix(number, suffix); ok {
			number, factor = head, f
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if n *= factor; err != nil || !(n >= 1 && n <= 1e12) {
		return Budget{}, fmt.Errorf("%q is not a number of tokens: write for example 2000000, 500k or 2M", Clip(text, 40))
	}
	return Budget{Tokens: int64(n)}, nil
}
