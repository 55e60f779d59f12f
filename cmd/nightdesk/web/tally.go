package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

// confirmedOf summarises the check of a report, or returns "" if there was none. t may be nil.
func confirmedOf(t *topicqueue.Tally) string {
	switch {
	case t == nil || t.Sentences == 0:
		return ""
	case t.Quotes: // a quotation always matches its source, so that says nothing about the report
		return view.Counted(t.Sentences, "quotation")
	case t.Unsupported > 0:
		return fmt.Sprintf("%d of %d confirmed, %d not supported", t.Supported, t.Sentences, t.Unsupported)
	}
	return fmt.Sprintf("%d of %d confirmed", t.Supported, t.Sentences)
}

// changesOf returns the number of changes since the last report on the topic, or "" if there is no earlier report.
func changesOf(t *topicqueue.Tally) string {
	switch {
	case t == nil || t.Since == "":
		return ""
	case t.Changes == 0:
		return "none"
	}
	return strconv.Itoa(t.Changes)
}

// shortCost returns the cost of the model calls, the tokens if no price is known, or "" if there were no calls.
func shortCost(t *topicqueue.Tally) string {
	switch {
	case t == nil || t.Calls == 0:
		return ""
	case t.Unpriced == t.Calls:
		return fmt.Sprintf("%d tokens", t.Tokens)
	}
	return fmt.Sprintf("%.2f USD", t.CostUSD)
}

// csvColumns are the columns of the CSV table. Unknown values are empty.
var csvColumns = []struct {
	name string
	of   func(desk.RunSummary) string
}{
	{"run_id", func(r desk.RunSummary) string { return r.RunID }},
	{"id", func(r desk.RunSummary) string { return r.Ref }},
	{"topic", func(r desk.RunSummary) string { return r.Topic }},
	{"tags", func(r desk.RunSummary) string { return strings.Join(r.Tags, ",") }},
	{"state", func(r desk.RunSummary) string { return string(r.State) }},
	{"reason", func(r desk.RunSummary) string { return r.Reason }},
	{"created_at", func(r desk.RunSummary) string { return machineTime(r.CreatedAt) }},
	{"ended_at", func(r desk.RunSummary) string { return machineTime(r.EndedAt) }},
	{"report", func(r desk.RunSummary) string { return r.ReportKey }},
	{"seconds", func(r desk.RunSummary) string {
		if r.StartedAt.IsZero() || r.EndedAt.IsZero() {
			return ""
		}
		return strconv.Itoa(int(r.EndedAt.Sub(r.StartedAt).Seconds()))
	}},
	{"since", tallied(func(t topicqueue.Tally) string { return t.Since })},
	{"changes", tallied(func(t topicqueue.Tally) string {
		if t.Since == "" {
			return ""
		}
		return strconv.Itoa(t.Changes)
	})},
	{"cited_sentences", tallied(func(t topicqueue.Tally) string { return strconv.Itoa(t.Sentences) })},
	{"supported", tallied(func(t topicqueue.Tally) string { return strconv.Itoa(t.Supported) })},
	{"unsupported", tallied(func(t topicqueue.Tally) string { return strconv.Itoa(t.Unsupported) })},
	{"model_calls", tallied(func(t topicqueue.Tally) string { return strconv.Itoa(t.Calls) })},
	{"tokens", tallied(func(t topicqueue.Tally) string { return strconv.Itoa(t.Tokens) })},
	{"cost_usd", tallied(func(t topicqueue.Tally) string {
		if t.Calls <= t.Unpriced {
			return ""
		}
		return strconv.FormatFloat(t.CostUSD, 'f', 4, 64)
	})},
}

func tallied(of func(topicqueue.Tally) string) func(desk.RunSummary) string {
	return func(r desk.RunSummary) string {
		if r.Tally == nil {
			return ""
		}
		return of(*r.Tally)
	}
}

func machineTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
