package web

import (
	"fmt"
	"strconv"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

// confirmedOf says what came of the check of a report; empty when there was none. t: nil when nothing was counted.
func confirmedOf(t *topicqueue.Tally) string {
	switch {
	case t == nil || t.Sentences == 0:
		return ""
	case t.Quotes: // that its own words stand in a source proves nothing of a report
		return view.Counted(t.Sentences, "quotation")
	case t.Unsupported > 0:
		return fmt.Sprintf("%d of %d confirmed, %d not supported", t.Supported, t.Sentences, t.Unsupported)
	}
	return fmt.Sprintf("%d of %d confirmed", t.Supported, t.Sentences)
}

// changesOf counts what changed since the last report on the topic; empty when there is none to go on from.
func changesOf(t *topicqueue.Tally) string {
	switch {
	case t == nil || t.Since == "":
		return ""
	case t.Changes == 0:
		return "none"
	}
	return strconv.Itoa(t.Changes)
}

// shortCost says what models were paid or, where no price is known, what they read and wrote; empty without any.
func shortCost(t *topicqueue.Tally) string {
	switch {
	case t == nil || t.Calls == 0:
		return ""
	case t.Unpriced == t.Calls:
		return fmt.Sprintf("%d tokens", t.Tokens)
	}
	return fmt.Sprintf("%.2f USD", t.CostUSD)
}

// counted are the figures of a run in the table for other programs; empty where there are none.
func counted(run topicqueue.Run) []string {
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
