package web

import (
	"context"
	"net/http"
	"regexp"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/history"
	"nightdesk/topicqueue"
)

// Parts of these pages.
type (
	topicPage struct {
		Topic  string
		Nights []nightLine
		Total  int
	}
	nightLine struct {
		history.Night
		history.Outcome
		Used    string
		Changed []string
		More    int // number of changes that are not listed
	}
)

const (
	shownNights  = 60
	shownChanges = 5 // per run
)

var topicKey = regexp.MustCompile(`^[0-9a-f]{32}$`)

// topic lists the runs of a topic, newest first.
func (p *site) topic(ctx context.Context, r *http.Request) (string, any, error) {
	key := r.PathValue("topic")
	if !topicKey.MatchString(key) {
		return "", nil, notHere("There is no such topic.")
	}
	nights, total, err := history.Nights(ctx, p.Store, key, shownNights)
	if err == nil && len(nights) == 0 {
		err = notHere("No report on this topic is recorded. A report is recorded as soon as it is in storage.")
	}
	if err != nil {
		return "", nil, err
	}
	outcomes, err := history.Outcomes(ctx, p.Store, nights)
	page := topicPage{Topic: topicqueue.OneLine(nights[0].Topic), Total: total}
	for _, n := range nights {
		page.Nights = append(page.Nights, lineOfNight(n, outcomes[n.RunID]))
	}
	return "History: " + page.Topic, page, err
}

func lineOfNight(n history.Night, o history.Outcome) nightLine {
	line := nightLine{Night: n, Outcome: o}
	if !n.StartedAt.IsZero() && n.EndedAt.After(n.StartedAt) {
		line.Used = view.Duration(n.EndedAt.Sub(n.StartedAt))
	}
	if o.Changes != nil {
		all := o.ChangeLines()
		line.Changed, line.More = all[:min(len(all), shownChanges)], max(0, len(all)-shownChanges)
	}
	return line
}
