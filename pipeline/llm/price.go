package llm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/topicqueue"
)

// Price is the price of a model in USD per million tokens of questions and answers. Cached and Written are the prices
// of question tokens that the provider reads from and writes to its prompt cache.
type Price struct{ Input, Output, Cached, Written float64 }

// Prices are the prices of models by their exact names.
type Prices map[string]Price

// knownPrices are list prices published by providers up to June 2025. They change, so configured prices take
// precedence.
var knownPrices = Prices{
	"gpt-4.1":           {2, 8, 0.50, 2},
	"gpt-4.1-mini":      {0.40, 1.60, 0.10, 0.40},
	"gpt-4.1-nano":      {0.10, 0.40, 0.025, 0.10},
	"gpt-4o":            {2.50, 10, 1.25, 2.50},
	"gpt-4o-mini":       {0.15, 0.60, 0.075, 0.15},
	"o3":                {2, 8, 0.50, 2},
	"o4-mini":           {1.10, 4.40, 0.275, 1.10},
	"claude-3-5-haiku":  {0.80, 4, 0.08, 1},
	"claude-3-7-sonnet": {3, 15, 0.30, 3.75},
	"claude-sonnet-4":   {3, 15, 0.30, 3.75},
	"claude-opus-4":     {15, 75, 1.50, 18.75},
	"deepseek-chat":     {0.27, 1.10, 0.07, 0.27},
}

// priceAllowed describes an entry of ParsePrices, for messages.
const priceAllowed = "must be NAME=INPUT/OUTPUT, or NAME=INPUT/OUTPUT/CACHED, or NAME=INPUT/OUTPUT/CACHED/WRITTEN, " +
	"in USD per million tokens"

// ParsePrices parses "NAME=INPUT/OUTPUT[/CACHED[/WRITTEN]], ...", in USD per million tokens, for example
// "my-model=0.2/0.8, local=0/0, hosted=3/15/0.3/3.75". CACHED and WRITTEN default to INPUT.
func ParsePrices(text string) (Prices, error) {
	prices := Prices{}
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		i := strings.LastIndexByte(entry, '=')
		if i < 1 {
			return nil, fmt.Errorf("price %q: %s", entry, priceAllowed)
		}
		p, ok := parsePrice(entry[i+1:])
		if !ok {
			return nil, fmt.Errorf("price %q: %s", entry, priceAllowed)
		}
		prices[strings.TrimSpace(entry[:i])] = p
	}
	return prices, nil
}

func parsePrice(text string) (p Price, ok bool) {
	parts := strings.Split(text, "/")
	into := []*float64{&p.Input, &p.Output, &p.Cached, &p.Written}
	if len(parts) < 2 || len(parts) > len(into) {
		return p, false
	}
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= 0 && v < 1e6) { // written so that NaN fails
			return p, false
		}
		*into[i] = v
	}
	for _, rest := range into[len(parts):] {
		*rest = p.Input
	}
	return p, true
}

// snapshot matches the date that providers append to the name of a fixed version of a model.
var snapshot = regexp.MustCompile(`-(\d{4}-\d{2}-\d{2}|\d{8})$`)

// Strange returns, in order, the names of own prices that match neither one of these models nor a model with a
// built-in price. Most are typing errors.
func (own Prices) Strange(models []string) []string {
	names := map[string]bool{}
	for _, m := range models {
		names[m], names[snapshot.ReplaceAllString(m, "")] = true, true
	}
	var strange []string
	for name := range own {
		if _, known := knownPrices[snapshot.ReplaceAllString(name, "")]; !known && !names[name] {
			strange = append(strange, name)
		}
	}
	slices.Sort(strange)
	return strange
}

// Cost returns the cost of a call in USD, and false if the price of its model is unknown. Own prices take precedence
// over the built-in ones. A fixed version of a model (gpt-4o-2024-08-06) has the price of the model.
func (own Prices) Cost(u topicqueue.Usage) (float64, bool) {
	for _, name := range []string{u.Model, snapshot.ReplaceAllString(u.Model, "")} {
		for _, prices := range []Prices{own, knownPrices} {
			if p, ok := prices[name]; ok {
				other := u.PromptTokens - u.CachedTokens - u.CacheWriteTokens
				return (float64(other)*p.Input + float64(u.CachedTokens)*p.Cached + float64(u.CacheWriteTokens)*p.Written +
					float64(u.CompletionTokens)*p.Output) / 1e6, true
			}
		}
	}
	return 0, false
}
