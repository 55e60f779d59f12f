// Package digest tells what a person must see of a batch that has ended, in the order of importance: failures with
// what to do, large changes, contradictions within and between reports, what was cut short, thin evidence, what it
// cost.
//
// It reads nothing by itself and asks no model. Entry points: a Builder is given the facts of each run (Read makes
// them of the metadata of its report) and the contradictions that Between finds, Builder.Digest makes the Digest,
// which has a Markdown and an HTML form. Memory is bounded however many runs there are.
package digest

import (
	"cmp"
	"time"
	"unicode/utf8"

	"nightdesk/pipeline/evidence"
	"nightdesk/topicqueue"
)

// Run is one run of the batch.
type Run struct {
	topicqueue.Run
	Facts Facts // zero when there is no metadata
}

// Facts are what a digest takes from the metadata of a report.
type Facts struct {
	Title          string                   `json:"title"`
	Usage          Usage                    `json:"usage"`
	Contradictions []evidence.Contradiction `json:"contradictions"`
	Origins        int                      `json:"origins"`   // of what the report cites; 0: it does not say
	Changes        *Changes                 `json:"changes"`   // nil: the topic has no earlier night
	Budget         *Budget                  `json:"budget"`    // nil: there was none
	Formats        []Format                 `json:"formats"`   // of the report beside its Markdown
	TopicKey       string                   `json:"topic_key"` // of the topic's history
	Remarks        []topicqueue.Remark      `json:"remarks"`   // of readers, which it was written with
	Audio          topicqueue.Narration     `json:"audio"`     // zero: the report was not to be read aloud
	Tally          *topicqueue.Tally        `json:"tally"`     // nil: an early version has published it
}

// Format is a report in another form than its Markdown.
type Format struct {
	Format string `json:"format"`
	File   string `json:"file"` // storage key; empty: it could not be made
}

// Budget is what a run was allowed to cost.
type Budget struct {
	Batch Amount   `json:"batch"` // for all runs of the batch together; zero = none
	Night Amount   `json:"night"` // for all runs of the night together; zero = none
	Cuts  []string `json:"cuts"`  // what was left out so as not to exceed it, or to be ready in time
}

// Amount is a budget in tokens or, without them, in money.
type Amount struct {
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
}

// Usage is what models were asked for.
type Usage struct {
	Calls    int     `json:"total_calls"`
	Tokens   int     `json:"total_tokens"`
	CostUSD  float64 `json:"total_cost_usd"`
	Unpriced int     `json:"unpriced_calls"` // calls whose cost is not known
}

func (u *Usage) add(o Usage) {
	u.Calls += o.Calls
	u.Tokens += o.Tokens
	u.CostUSD += o.CostUSD
	u.Unpriced += o.Unpriced
}

// Kinds of items, in the order of importance.
const (
	KindFailed        = "failed"
	KindChanged       = "changed"
	KindContradiction = "contradiction"
	KindPartial       = "partial"
	KindThin          = "thin"
	KindRemark        = "remark"
)

// Digest is what a batch has come to.
type Digest struct {
	Batch     string                      `json:"batch"`
	CreatedAt time.Time                   `json:"created_at"`
	EndedAt   time.Time                   `json:"ended_at,omitzero"` // of its last run
	Runs      int                         `json:"runs"`
	States    map[topicqueue.RunState]int `json:"states"`
	First     []Item                      `json:"first"` // what a person must see, the most important first; at most 10
	Failed    Section                     `json:"failed"`
	Changed   Section                     `json:"changed"`
	Disagree  Section                     `json:"contradictions"`
	Partial   Section                     `json:"partial"`
	Thin      Section                     `json:"thin"`             // reports whose sources have one origin
	Remarks   Section                     `json:"remarks,omitzero"` // of readers about the reports of the night before
	// all claims that could contradict those of other reports were compared
	Compared bool `json:"compared"`

	Unchanged   int    `json:"unchanged"` // topics that have an earlier night and of which nothing moved
	Usage       Usage  `json:"usage"`
	Budget      Amount `json:"budget,omitzero"`       // of the batch; zero = none
	NightBudget Amount `json:"night_budget,omitzero"` // of all runs of its night together; zero = none
	// runs that were made smaller to stay within a budget, or to be ready in time
	Trimmed int   `json:"trimmed"`
	Dearest []Ref `json:"dearest"` // runs that cost most, at most 3; none when nothing cost anything

	Reports []Ref `json:"reports"` // in the order of enqueueing, at most 2,000
}

// Section is the items of one kind, the most important first.
type Section struct {
	Items []Item `json:"items"` // at most 50
	Total int    `json:"total"` // with those that are not listed
}

// Item is one thing that a person should know.
type Item struct {
	Kind  string   `json:"kind"`
	Text  string   `json:"text"`            // what is the matter, one line
	Sides []string `json:"sides,omitempty"` // of a contradiction: what either side says, and where
	Do    string   `json:"do,omitempty"`    // what to do about it
	Runs  []Ref    `json:"runs"`            // at most 5
	Count int      `json:"count"`           // of runs

	weight float64
}

// Ref points to a run.
type Ref struct {
	RunID string `json:"run_id"`
	ID    string `json:"id,omitempty"` // of the topic in its list
	Topic string `json:"topic"`
	// the topic without words that most topics share; empty: it is short itself
	Short   string              `json:"short,omitempty"`
	State   topicqueue.RunState `json:"state"`
	Report  string              `json:"report,omitempty"` // storage key; empty when there is none
	Page    string              `json:"page,omitempty"`   // of the report as a page for browsers; empty when there is none
	Audio   string              `json:"audio,omitempty"`  // of the report as it is read aloud; empty when it is not
	CostUSD float64             `json:"cost_usd,omitempty"`
	// key of the topic's history; empty: it goes on from no earlier night
	History string `json:"topic_key,omitempty"`
}

// Bounds of a digest.
const (
	maxFirst   = 10
	maxItems   = 50
	maxRefs    = 5
	maxReports = 2000
	maxDearest = 3
	maxReasons = 500 // that are told apart
	maxTopic   = 100 // bytes
	maxWhole   = 600 // bytes, of a topic before words are left out
	maxShort   = 60  // characters, at best
	maxText    = 600
)

// RefOf returns what a digest shows of a run.
func RefOf(run Run) Ref {
	r := Ref{RunID: run.ID, ID: run.Ref, Topic: topicqueue.Clip(topicqueue.OneLine(run.Topic), maxWhole), State: run.State,
		CostUSD: run.Facts.Usage.CostUSD}
	if run.Facts.Changes != nil || len(run.Facts.Remarks) > 0 {
		r.History = run.Facts.TopicKey
	}
	if !run.PublishedAt.IsZero() {
		r.Report, r.Audio = run.Report, run.Facts.Audio.File
		for _, f := range run.Facts.Formats {
			if f.Format == "html" {
				r.Page = f.File
			}
		}
	}
	return r
}

// Name is how a digest calls a run. short: among others.
func (r Ref) Name(short bool) string {
	switch {
	case short:
		return cmp.Or(r.ID, r.Short, r.Topic)
	case r.ID != "":
		return r.ID + ": " + r.Topic
	}
	return r.Topic
}

// shorten leaves out words that most topics share, where there is not room for all.
func (r *Ref) shorten(common *topicqueue.Common) {
	r.Short = ""
	if short := common.Shorten(r.Topic, maxShort, utf8.RuneCountInString); short != r.Topic {
		r.Short = topicqueue.Clip(short, maxTopic)
	}
	if len(r.Topic) > maxTopic {
		r.Topic = topicqueue.Clip(common.Shorten(r.Topic, maxTopic, func(s string) int { return len(s) }), maxTopic)
	}
}

// shorten shortens the topics of all runs.
func (d *Digest) shorten() {
	var common topicqueue.Common
	for _, r := range d.Reports {
		common.Add(r.Topic)
	}
	lists := [][]Ref{d.Reports, d.Dearest}
	for _, s := range []Section{d.Failed, d.Changed, d.Disagree, d.Partial, d.Thin, d.Remarks} {
		for _, item := range s.Items {
			lists = append(lists, item.Runs)
		}
	}
	for _, list := range lists {
		for i := range list {
			list[i].shorten(&common)
		}
	}
}

func line(text string) string { return topicqueue.Clip(topicqueue.OneLine(text), maxText) }
