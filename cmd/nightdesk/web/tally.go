package web

import (
	"fmt"
	"strconv"

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

// counted returns the figures of a run for the CSV table. Unknown figures are empty.
func counted(run desk.RunSummary) []string {
	fields := make([]string, 9)
	if !run.StartedAt.IsZero() && !run.EndedAt.IsZero() {
		fields[0] = strconv.Itoa(int(run.EndedAt.Sub(run.StartedAt).Seconds()))
	}
	t := run.Tally
	if t == nil {
		return fields
	}
	if fields[1] = t.Since; t.Since != "" {
		fields[2] = strconv.Itoa(t.Changes)
	}
	for i, n := range []int{t.Sentences, t.Supported, t.Unsupported, t.Calls, t.Tokens} {
		fields[3+i] = strconv.Itoa(n)
	}
	if t.Calls > t.Unpriced {
		fields[8] = strconv.FormatFloat(t.CostUSD, 'f', 4, 64)
	}
	return fields
}
