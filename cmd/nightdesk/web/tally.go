package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/topicqueue"
)

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

// csvColumns are the columns of the CSV table.
var csvColumns = strings.Split("run_id,id,topic,tags,state,reason,created_at,ended_at,report,seconds,since,changes,"+
	"cited_sentences,supported,unsupported,model_calls,tokens,cost_usd", ",")

// csvRow returns the values of a run. Unknown values are empty.
func csvRow(r desk.RunSummary) []string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	seconds := ""
	if !r.StartedAt.IsZero() && !r.EndedAt.IsZero() {
		seconds = strconv.Itoa(int(r.EndedAt.Sub(r.StartedAt).Seconds()))
	}
	row := []string{r.RunID, r.Ref, r.Topic, strings.Join(r.Tags, ","), string(r.State), r.Reason, at(r.CreatedAt),
		at(r.EndedAt), r.ReportKey, seconds}
	t := r.Tally
	if t == nil {
		return append(row, make([]string, len(csvColumns)-len(row))...)
	}
	changes, cost := "", ""
	if t.Since != "" {
		changes = strconv.Itoa(t.Changes)
	}
	if t.Calls > t.Unpriced {
		cost = strconv.FormatFloat(t.CostUSD, 'f', 4, 64)
	}
	row = append(row, t.Since, changes)
	for _, n := range []int{t.Sentences, t.Supported, t.Unsupported, t.Calls, t.Tokens} {
		row = append(row, strconv.Itoa(n))
	}
	return append(row, cost)
}
