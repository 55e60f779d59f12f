package llm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"nightdesk/topicqueue"
)

// Price is what a model costs, in USD per million tokens.
type Price struct{ Input, Output float64 }

// Prices are the prices of models by their exact names.
type Prices map[string]Price

// knownPrices are list prices that providers had published by June 2025. They change: a price of one's own comes first.
var knownPrices = Prices{
	"gpt-4.1":           {2, 8},
	"gpt-4.1-mini":      {0.40, 1.60},
	"gpt-4.1-nano":      {0.10, 0.40},
	"gpt-4o":            {2.50, 10},
	"gpt-4o-mini":       {0.15, 0.60},
	"o3":                {2, 8},
	"o4-mini":           {1.10, 4.40},
	"claude-3-5-haiku":  {0.80, 4},
	"claude-3-7-sonnet": {3, 15},
	"claude-sonnet-4":   {3, 15},
	"claude-opus-4":     {15, 75},
	"deepseek-chat":     {0.27, 1.10},
}

// ParsePrices reads "NAME=INPUT/OUTPUT, ...": USD per million tokens, for example "my-model=0.2/0.8, local=0/0".
func ParsePrices(text string) (Prices, error) {
	prices := Prices{}
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		i := strings.LastIndexByte(entry, '=')
		if i < 1 {
			return nil, fmt.Errorf("price %q: must be NAME=INPUT/OUTPUT in USD per million tokens", entry)
		}
		in, out, ok := strings.Cut(entry[i+1:], "/")
		input, err1 := strconv.ParseFloat(strings.TrimSpace(in), 64)
		output, err2 := strconv.ParseFloat(strings.TrimSpace(out), 64)
		if !ok || err1 != nil || err2 != nil || !(input >= 0 && input < 1e6) || !(output >= 0 && output < 1e6) {
			return nil, fmt.Errorf("price %q: must be NAME=INPUT/OUTPUT in USD per million tokens", entry)
		}
		prices[strings.TrimSpace(entry[:i])] = Price{input, output}
	}
	return prices, nil
}

// snapshot is the date that providers append to the name of a fixed version of a model.
var snapshot = regexp.MustCompile(`-(\d{4}-\d{2}-\d{2}|\d{8})$`)

// Cost returns what a call cost in USD, and false when its model has no known price: unknown is never guessed. own
// prices come before the built-in ones; the fixed version of a model (gpt-4o-2024-08-06) costs what the model does.
func (own Prices) Cost(u topicqueue.Usage) (float64, bool) {
	for _, name := range []string{u.Model, snapshot.ReplaceAllString(u.Model, "")} {
		for _, prices := range []Prices{own, knownPrices} {
			if p, ok := prices[name]; ok {
				return (float64(u.PromptTokens)*p.Input + float64(u.CompletionTokens)*p.Output) / 1e6, true
			}
		}
	}
	return 0, false
}
