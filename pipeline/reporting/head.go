package reporting

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// AddHead inserts a head below the title: topic, date, run, batch, list entry, final state, and result of the check.
// run must have ended. The head is added later because a report is written before its run ends.
func (r *Report) AddHead(run topicqueue.Run) {
	head := r.head(run)
	title, rest, _ := strings.Cut(r.Markdown, "\n")
	r.Markdown = title + "\n\n" + head + rest
	if r.Verification != nil {
		r.Verification.shift(strings.Count(head, "\n") + 1)
	}
}

// head returns a block quote of several lines.
func (r *Report) head(run topicqueue.Run) string {
	t := prompts.TextsIn(run.Options.Language)
	var lines []string
	if topic := text.Line(run.Topic); topicqueue.TopicKey(topic) != topicqueue.TopicKey(r.Title) {
		lines = append(lines, t.Topic.With(prompts.V{"Topic": markup.Escape(topic)}))
	}
	place := []string{t.Run.With(prompts.V{"Date": run.Date(run.EndedAt), "Run": run.ID})}
	if run.Batch != "" {
		place = append(place, t.Batch.With(prompts.V{"Batch": markup.Escape(run.Batch)}))
	}
	if run.Ref != "" {
		place = append(place, t.Entry.With(prompts.V{"ID": markup.Escape(text.Line(run.Ref))}))
	}
	if run.State == topicqueue.RunCompleted {
		place = append(place, t.Completed.String())
	}
	lines = append(lines, strings.Join(place, " · "))
	if run.State != topicqueue.RunCompleted {
		reason := cmp.Or(strings.TrimRight(text.Line(run.Reason), "."), string(run.State)) + "."
		lines = append(lines, t.Partial.With(prompts.V{"Reason": markup.Escape(reason)}))
	}
	if v := r.Verification; v != nil && v.Verified() && v.Counts.Sentences > 0 && !v.QuotesOnly() {
		c := v.Counts
		lines = append(lines, t.Confirmed.With(prompts.V{
			"Sentences": c.Sentences, "Confirmed": c.Supported, "Repaired": c.Repaired,
			"Unverified": c.Unverified - c.Conclusions, "Conclusions": c.Conclusions,
			"Unsupported": c.Unsupported, "FactsUncited": c.FactsUncited,
		}))
	}
	return "> " + strings.Join(lines, "  \n> ") + "\n"
}

// shift moves the line numbers of the references down.
func (v *Verification) shift(lines int) {
	for i := range v.Valid {
		if v.Valid[i].LineNumber > 0 {
			v.Valid[i].LineNumber += lines
		}
	}
	for i := range v.Removed {
		if v.Removed[i].LineNumber > 0 {
			v.Removed[i].LineNumber += lines
		}
	}
}

// Verified reports whether the check was made.
func (v *Verification) Verified() bool { return v.Status == verification.StatusVerified }

// QuotesOnly reports whether a report has only quotations.
func (v *Verification) QuotesOnly() bool {
	return !slices.ContainsFunc(v.Sentences, func(s CheckedSentence) bool { return !s.Quote })
}
