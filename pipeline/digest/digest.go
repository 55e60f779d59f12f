// Package digest summarizes an ended batch, most important first: failures with advice, large changes, contradictions
// within and between reports, shortened reports, thin evidence, and cost.
//
// It does no I/O and calls no model. A Builder gets the facts of each run (Read parses them from the metadata of its
// report) and the contradictions found by Between. Builder.Digest returns the Digest, which has a Markdown and an HTML
// form. Memory is bounded for any number of runs.
package digest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/recurring"
	"nightdesk/topicqueue"
)

// Run is one run of the batch.
type Run struct {
	topicqueue.Run
	Facts Facts // zero if there is no metadata
}

// Facts are the parts of a report's metadata that digests, pages and commands use.
type Facts struct {
	Title          string                   `json:"title"`
	Citations      []string                 `json:"citations"`
	Usage          Usage                    `json:"usage"`
	Contradictions []evidence.Contradiction `json:"contradictions"`
	Origins        int                      `json:"origins"`   // independent origins of the sources; 0: unknown
	Changes        *recurring.Changes       `json:"changes"`   // nil: the topic has no earlier run
	Budget         *Budget                  `json:"budget"`    // nil: none
	Formats        []Format                 `json:"formats"`   // of the report, besides Markdown
	TopicKey       string                   `json:"topic_key"` // key of the topic's history
	Remarks        []topicqueue.Remark      `json:"remarks"`   // of readers, used in writing the report
	Audio          topicqueue.Narration     `json:"audio"`     // zero: no audio requested
	Tally          *topicqueue.Tally        `json:"tally"`     // nil: published by an early version
}

// Read parses the facts for a digest from the metadata of a report.
func Read(metadata []byte) (Facts, error) {
	var f Facts
	if err := json.Unmarshal(metadata, &f); err != nil {
		return Facts{}, fmt.Errorf("read the metadata of a report: %w", err)
	}
	return f, nil
}

// Format is a report in a format other than Markdown.
type Format struct {
	Format string `json:"format"`
	File   string `json:"file"` // storage key; empty: not created
}

// Budget is the budget of a run.
type Budget struct {
	Batch Amount   `json:"batch"` // for all runs of the batch together; zero: none
	Night Amount   `json:"night"` // for all runs of the night together; zero: none
	Cuts  []string `json:"cuts"`  // what was left out to stay within budget or time
}

// Amount is a budget in tokens or, if Tokens is 0, in USD.
type Amount struct {
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
}

// Usage sums up model calls.
type Usage struct {
	Calls    int     `json:"total_calls"`
	Tokens   int     `json:"total_tokens"`
	CostUSD  float64 `json:"total_cost_usd"`
	Unpriced int     `json:"unpriced_calls"` // calls of unknown cost
}

func (u *Usage) add(o Usage) {
	u.Calls += o.Calls
	u.Tokens += o.Tokens
	u.CostUSD += o.CostUSD
	u.Unpriced += o.Unpriced
}

// Kinds of items, most important first.
const (
	KindFailed        = "failed"
	KindChanged       = "changed"
	KindContradiction = "contradiction"
	KindPartial       = "partial"
	KindThin          = "thin"
	KindRemark        = "remark"
)

// kinds tells how the items of each kind are shown.
var kinds = []struct {
	kind, label, title string
	share              int // of the items on the first screen
	section            func(*Digest) *Section
}{
	{KindFailed, "Failed", "Failures", 3, func(d *Digest) *Section { return &d.Failed }},
	{KindChanged, "Changed", "Changes", 3, func(d *Digest) *Section { return &d.Changed }},
	{KindContradiction, "Contradiction", "Contradictions", 2, func(d *Digest) *Section { return &d.Disagree }},
	{KindPartial, "Cut short", "Cut short", 1, func(d *Digest) *Section { return &d.Partial }},
	{KindThin, "Thin evidence", "Thin evidence", 1, func(d *Digest) *Section { return &d.Thin }},
	{KindRemark, "Remark", "Remarks about the last reports", 0, func(d *Digest) *Section { return &d.Remarks }},
}

// Word returns the label of a kind of items.
func Word(kind string) string {
	for _, k := range kinds {
		if k.kind == kind {
			return k.label
		}
	}
	return ""
}

// Digest is the summary of a batch.
type Digest struct {
	Batch     string                      `json:"batch"`
	CreatedAt time.Time                   `json:"created_at"`
	EndedAt   time.Time                   `json:"ended_at,omitzero"` // end of its last run
	Runs      int                         `json:"runs"`
	States    map[topicqueue.RunState]int `json:"states"`
	First     []Item                      `json:"first"` // most important items, at most 10
	Failed    Section                     `json:"failed"`
	Changed   Section                     `json:"changed"`
	Disagree  Section                     `json:"contradictions"`
	Partial   Section                     `json:"partial"`
	Thin      Section                     `json:"thin"`             // reports whose sources have one origin
	Remarks   Section                     `json:"remarks,omitzero"` // of readers about the last reports
	// Compared reports whether all claims that could contradict other reports were compared.
	Compared bool `json:"compared"`

	Unchanged   int    `json:"unchanged"` // topics with an earlier run and no changes
	Usage       Usage  `json:"usage"`
	Budget      Amount `json:"budget,omitzero"`       // of the batch; zero: none
	NightBudget Amount `json:"night_budget,omitzero"` // for all runs of its night together; zero: none
	// Trimmed is the number of runs shortened to stay within budget or time.
	Trimmed int   `json:"trimmed"`
	Dearest []Ref `json:"dearest"` // most expensive runs, at most 3; none if nothing had a cost

	Reports []Ref `json:"reports"` // in the order of enqueueing, at most 2,000
}

// More returns the number of reports that are not listed.
func (d Digest) More() int { return d.Runs - len(d.Reports) }

// Section holds the items of one kind, most important first.
type Section struct {
	Items []Item `json:"items"` // at most 50
	Total int    `json:"total"` // including items not listed
}

// Item is one thing that the user should know.
type Item struct {
	Kind  string   `json:"kind"`
	Text  string   `json:"text"`            // description, one line
	Sides []string `json:"sides,omitempty"` // statements of a contradiction
	Do    string   `json:"do,omitempty"`    // advice
	Runs  []Ref    `json:"runs"`            // at most 5
	Count int      `json:"count"`           // number of runs

	weight float64
}

// More returns the number of runs that are not listed.
func (i Item) More() int { return i.Count - len(i.Runs) }

// Ref refers to a run.
type Ref struct {
	RunID string `json:"run_id"`
	ID    string `json:"id,omitempty"` // id of the topic in its list
	Topic string `json:"topic"`
	// Short is the topic without words that most topics share; empty if the topic is short.
	Short   string              `json:"short,omitempty"`
	State   topicqueue.RunState `json:"state"`
	Report  string              `json:"report,omitempty"` // storage key; empty: none
	Page    string              `json:"page,omitempty"`   // storage key of the HTML page; empty: none
	Audio   string              `json:"audio,omitempty"`  // storage key of the audio; empty: none
	CostUSD float64             `json:"cost_usd,omitempty"`
	// History is the key of the topic's history; empty: no earlier run.
	History string `json:"topic_key,omitempty"`
}

// Limits of a digest.
const (
	maxFirst   = 10
	maxItems   = 50
	maxRefs    = 5
	maxReports = 2000
	maxDearest = 3
	maxReasons = 500 // distinct reasons
	maxTopic   = 100 // bytes
	maxWhole   = 600 // bytes of a topic before it is shortened
	maxShort   = 60  // characters, if possible
	maxText    = 600
)

// RefOf returns the reference to a run for a digest.
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

// Name returns the name of a run. short: in a list of runs.
func (r Ref) Name(short bool) string {
	switch {
	case short:
		return cmp.Or(r.ID, r.Short, r.Topic)
	case r.ID != "":
		return r.ID + ": " + r.Topic
	}
	return r.Topic
}

// shorten removes words that most topics share from a topic that is too long.
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
	for _, k := range kinds {
		for _, item := range k.section(d).Items {
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
