// Package estimate tells in advance what a list of topics costs, how long it takes, and whether its budgets and
// deadlines suffice.
//
// Entry points: [Of] and [Shortages].
package estimate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/forecast"
)

// Document is the JSON document of `enqueue --dry-run --json`.
type Document struct {
	List             string         `json:"list"`
	Format           string         `json:"format"`
	Topics           int            `json:"topics"` // to be enqueued
	Known            int            `json:"known"`  // already in the batch
	Invalid          int            `json:"invalid"`
	Repeated         int            `json:"repeated"`
	Similar          int            `json:"similar"`
	Presets          map[string]int `json:"presets"` // topics by preset
	Calls            int            `json:"calls"`
	CallsAtMost      int            `json:"calls_at_most"`
	PromptTokens     int64          `json:"prompt_tokens"`
	CompletionTokens int64          `json:"completion_tokens"`
	CostUSD          *float64       `json:"cost_usd"`                  // null: no model has a known price
	Unpriced         []string       `json:"unpriced_models,omitempty"` // models excluded from cost_usd
	TookSeconds      int64          `json:"took_seconds"`
	AtOnce           int            `json:"calls_at_once"` // concurrency assumed by took_seconds
	Assumptions      []string       `json:"assumptions"`
	Limits           []limitCheck   `json:"limits"` // budgets and deadlines, and whether they suffice
}

// Of returns the expected cost of a list, for a batch or, if batch is empty, a new one. d is nil without a queue.
func Of(ctx context.Context, cfg config.Config, d *wiring.Desk, list *intake.List,
	batch string) (doc Document, err error) {
	doc = Document{List: list.Name, Format: string(list.Format), Topics: len(list.Topics) - list.Known(),
		Known: list.Known(), Invalid: list.Problems.Count,
		Repeated: list.Repeated, Similar: list.Similar, Presets: map[string]int{}, Assumptions: []string{},
		Limits: []limitCheck{}}
	for number, topics := range newTopics(list.Topics) {
		doc.Presets[list.Options[number].Preset] += topics
	}
	if !cfg.LLM.Enabled() {
		return doc, nil
	}
	o, err := newOutlook(ctx, cfg, d)
	if err != nil {
		return doc, err
	}
	sum := o.estimate(newTopics(list.Topics), list.Options)
	doc.Calls, doc.CallsAtMost, doc.AtOnce = sum.Calls, sum.Most, o.slots
	for _, t := range sum.Tokens {
		doc.PromptTokens, doc.CompletionTokens = doc.PromptTokens+t[0], doc.CompletionTokens+t[1]
	}
	doc.TookSeconds = int64(sum.Took(doc.AtOnce).Seconds())
	usd, unpriced := sum.Cost(o.prices, o.models)
	if doc.Unpriced = unpriced; usd > 0 || len(unpriced) == 0 {
		doc.CostUSD = &usd
	}
	doc.Assumptions = append(slices.Clone(forecast.Assumptions), o.assumptions()...)
	if doc.Presets["route"] > 0 {
		doc.Assumptions = append(doc.Assumptions, "every topic with the preset route is researched, none is answered")
	}
	doc.Limits, err = o.checkLimits(ctx, list, batch)
	return doc, err
}

// newTopics returns the number of topics that are new in the batch, by index of their options.
func newTopics(topics []intake.Topic) map[int]int {
	out := map[int]int{}
	for _, t := range topics {
		if !t.Known {
			out[t.Options]++
		}
	}
	return out
}

// Print prints the document for a person.
func (doc Document) Print(out io.Writer) {
	var presets []string
	for _, name := range config.PresetNames() {
		if n := doc.Presets[name]; n > 0 {
			presets = append(presets, fmt.Sprintf("%d %s", n, name))
		}
	}
	if doc.Known > 0 {
		presets = append(presets, fmt.Sprintf("%d more are in the batch already", doc.Known))
	}
	fmt.Fprintf(out, "%s (%s): %s would be enqueued: %s\n", doc.List, doc.Format, view.Counted(doc.Topics, "topic"),
		strings.Join(presets, ", "))
	if doc.AtOnce == 0 {
		fmt.Fprintln(out, "no LLM_MODEL: reports are made of quotes, no model is asked")
		return
	}
	fmt.Fprintf(out, "model calls:  about %d, at most %d\n", doc.Calls, doc.CallsAtMost)
	fmt.Fprintf(out, "tokens:       about %s of questions, %s of answers\n", inThousands(doc.PromptTokens),
		inThousands(doc.CompletionTokens))
	fmt.Fprintf(out, "cost:         %s\n", doc.cost())
	fmt.Fprintf(out, "time:         about %s with %d calls at once\n",
		(time.Duration(doc.TookSeconds) * time.Second).Round(time.Second), doc.AtOnce)
	for _, l := range doc.Limits {
		fmt.Fprintf(out, "%-13s %s\n", l.What+":", l.text())
	}
	fmt.Fprintf(out, "assuming:     %s\n", strings.Join(doc.Assumptions, "\n              "))
}

// cost returns the expected cost in words.
func (doc Document) cost() string {
	missing := strings.Join(doc.Unpriced, ", ")
	switch {
	case doc.CostUSD == nil:
		return "unknown: no price is known for " + missing + "; " + wiring.PriceExample(doc.Unpriced[0])
	case missing != "":
		return fmt.Sprintf("about $%.2f, without %s, for which no price is known; %s", *doc.CostUSD, missing,
			wiring.PriceExample(doc.Unpriced[0]))
	}
	return fmt.Sprintf("about $%.2f", *doc.CostUSD)
}

// inThousands formats a number of tokens briefly: 940, 12.3 k, 4.5 M.
func inThousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f k", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f M", float64(n)/1e6)
}
