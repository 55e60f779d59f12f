package answering

import (
	"strings"
	"time"

	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Limits of tool results in a conversation, in bytes of source text. 12,000 bytes are about 3,000 tokens of English. If
// the results do not fit the window, the oldest are shortened. Every source keeps its marker, its title and its most
// relevant passages.
const (
	callBytes   = 12_000
	leastSource = 160 // minimum bytes per source
	maxSqueeze  = 3   // how often the results may be halved after the window was too small
)

// shortened lists the sizes to which an old result is cut, in steps.
var shortened = []int{3_000, 1_000, 0}

// lookups holds the results of all calls of a conversation.
type lookups struct {
	topic    string
	block    topicqueue.Block
	now      func() time.Time
	outcomes []outcome
	sources  []source       // sources shown, in the order of their markers
	marked   map[string]int // by source id: index in sources
	failures []string
}

// room returns the maximum size of all sources in a prompt, in bytes: a third of the window's tokens, at 3 bytes each.
func (w *work) room() int {
	room := 5 * callBytes
	if w.Window > 0 {
		room = min(room, w.Window)
	}
	return room >> w.squeeze
}

// Limits of a report and earlier questions about it. The report may take half of the room for sources; old answers are
// cut.
const (
	reportShare = 2
	oldAnswer   = 600  // bytes
	lastAnswer  = 3000 // bytes of the last one
)

// reportShown returns the report that the question refers to, cut to its share of the room.
func (w *work) reportShown() string { return topicqueue.Clip(w.Report, w.room()/reportShare) }

// earlier returns the earlier questions about the report. The last answer may be longer than the others.
func earlier(asked []topicqueue.FollowUp) []prompts.FollowUp {
	out := make([]prompts.FollowUp, len(asked))
	for i, f := range asked {
		most := oldAnswer
		if i == len(asked)-1 {
			most = lastAnswer
		}
		out[i] = prompts.FollowUp{Question: topicqueue.Clip(topicqueue.OneLine(f.Question), maxQuery),
			Answer: topicqueue.Clip(f.Answer, most)}
	}
	return out
}

// found converts the outcomes of all calls for a prompt, within room bytes of source text.
func (r *lookups) found(room int) []prompts.Found {
	limits := r.limits(room)
	out := make([]prompts.Found, len(r.outcomes))
	whole := map[int]bool{} // sources already shown in full
	for i, o := range r.outcomes {
		out[i] = prompts.Found{Tool: o.tool, Query: topicqueue.Clip(o.query, maxQuery), Problem: o.problem}
		for _, at := range o.sources {
			s := r.sources[at]
			p := r.passage(s, o, share(o, limits[i]))
			if whole[at] {
				p = prompts.Passage{ID: p.ID, Title: p.Title, Text: "…"} // the text is already shown
			}
			whole[at] = whole[at] || p.Text == s.Text
			out[i].Sources = append(out[i].Sources, p)
		}
	}
	return out
}

// limits returns the maximum bytes of each outcome.
func (r *lookups) limits(room int) []int {
	limits := make([]int, len(r.outcomes))
	for i := range limits {
		limits[i] = callBytes
	}
	total := func() (bytes int) {
		for i, o := range r.outcomes {
			for _, at := range o.sources {
				bytes += min(len(r.sources[at].Text), share(o, limits[i]))
			}
		}
		return bytes
	}
	for _, limit := range shortened {
		for i := range limits {
			if total() <= room {
				return limits
			}
			limits[i] = limit
		}
	}
	return limits
}

// share returns the maximum bytes of one source of an outcome.
func share(o outcome, limit int) int { return max(leastSource, limit/max(1, len(o.sources))) }

// passage converts a source for a prompt, with at most limit bytes of text.
func (r *lookups) passage(s source, o outcome, limit int) prompts.Passage {
	return prompts.Passage{ID: s.id, Title: topicqueue.OneLine(s.Title), By: s.By(), Date: s.Date,
		Head: s.HeadAt(1), Place: s.Place(), Text: excerpt(s, r.topic+"\n"+o.query, limit)}
}

// excerpt returns the passages of a source that are most relevant to a question, in order, with about limit bytes.
func excerpt(s source, question string, limit int) string {
	if len(s.Text) <= limit {
		return s.Text
	}
	var passages []string
	for _, p := range text.Passages(s.Text, nil) {
		passages = append(passages, s.Text[p.Start:p.End])
	}
	kept, best := text.Select(question, passages, limit)
	if len(kept) == 0 {
		return text.Start(passages[best], limit) + " …"
	}
	var parts []string
	for n, i := range kept {
		if n > 0 && kept[n-1] != i-1 {
			parts = append(parts, "…")
		}
		parts = append(parts, passages[i])
	}
	return strings.Join(parts, "\n\n")
}
