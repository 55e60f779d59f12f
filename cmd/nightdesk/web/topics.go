package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/history"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// Parts of these pages.
type (
	topicPage struct {
		Topic  string
		Key    string
		Nights []nightLine
		Total  int
	}
	nightLine struct {
		history.Night
		history.Outcome
		Used    string
		Changed []string
		More    int    // number of changes that are not listed
		Compare string // URL of the comparison with the previous run
		A, B    bool   // preselected for the comparison
	}
	comparePage struct {
		TopicURL, Topic string
		Nights          [2]topicqueue.Run // older and newer
		Parts           []history.Part
		Changed         int // number of rows that differ
	}
)

const (
	shownNights  = 60
	shownChanges = 5 // per run
)

var topicKey = regexp.MustCompile(`^[0-9a-f]{32}$`)

// topic lists the runs of a topic, newest first.
func (p *site) topic(ctx context.Context, r *http.Request) (string, any, error) {
	nights, outcomes, total, err := p.nights(ctx, r.PathValue("topic"))
	if err != nil {
		return "", nil, err
	}
	page := topicPage{Key: r.PathValue("topic"), Topic: topicqueue.OneLine(nights[0].Topic), Total: total}
	for i, n := range nights {
		line := lineOfNight(n, outcomes[n.RunID])
		line.A, line.B = i == 1, i == 0
		if i+1 < len(nights) {
			line.Compare = "./" + r.PathValue("topic") + "/compare?" + url.Values{"a": {nights[i+1].RunID},
				"b": {n.RunID}}.Encode()
		}
		page.Nights = append(page.Nights, line)
	}
	return "History: " + page.Topic, page, nil
}

func (p *site) nights(ctx context.Context, key string) ([]history.Night, map[string]history.Outcome, int, error) {
	if !topicKey.MatchString(key) {
		return nil, nil, 0, notHere("There is no such topic.")
	}
	nights, total, err := history.Nights(ctx, p.Store, key, shownNights)
	if err == nil && len(nights) == 0 {
		err = notHere("No report on this topic is recorded. A report is recorded as soon as it is in storage.")
	}
	if err != nil {
		return nil, nil, 0, err
	}
	outcomes, err := history.Outcomes(ctx, p.Store, nights)
	return nights, outcomes, total, err
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

// compare shows two reports side by side. ?a is the older one.
func (p *site) compare(ctx context.Context, r *http.Request) (string, any, error) {
	key := r.PathValue("topic")
	page := comparePage{TopicURL: "../" + name(key)}
	texts := [2]string{}
	for i, id := range []string{r.URL.Query().Get("a"), r.URL.Query().Get("b")} {
		run, err := p.Find(ctx, id)
		if err != nil {
			return "", nil, err
		}
		if history.KeyOf(run.Run) != key {
			return "", nil, notHere("Run " + id + " is not of this topic.")
		}
		texts[i], err = history.Report(ctx, p.Store, id)
		if errors.Is(err, storage.ErrNotExist) {
			return "", nil, notHere("Run " + id + " has no report to compare.")
		}
		if err != nil {
			return "", nil, err
		}
		page.Topic, page.Nights[i] = topicqueue.OneLine(run.Topic), run.Run
	}
	page.Parts = history.Compare(texts[0], texts[1])
	for _, part := range page.Parts {
		for _, row := range part.Rows {
			if row.Kind != history.Same {
				page.Changed++
			}
		}
	}
	return "Two reports: " + page.Topic, page, nil
}
