package bundle

import (
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/topicqueue"
)

// statistics counts the blocks of a run by status.
type statistics struct {
	TotalBlocks    int `json:"total_blocks"`
	Pending        int `json:"pending"`
	Researching    int `json:"researching"`
	Completed      int `json:"completed"`
	Failed         int `json:"failed"`
	TotalToolCalls int `json:"total_tool_calls"`
	GapBlocks      int `json:"gap_blocks"` // added by reviews
}

func (b *Writer) statistics() statistics {
	s := statistics{TotalBlocks: len(b.In.Blocks)}
	calls := map[string]bool{}
	for _, block := range b.In.Blocks {
		if block.Block.Why != "" {
			s.GapBlocks++
		}
		switch block.Block.Status {
		case topicqueue.BlockPending:
			s.Pending++
		case topicqueue.BlockResearching:
			s.Researching++
		case topicqueue.BlockCompleted:
			s.Completed++
		case topicqueue.BlockFailed:
			s.Failed++
		}
		for _, t := range block.Traces {
			calls[t.ToolID] = true
		}
	}
	s.TotalToolCalls = len(calls)
	return s
}

type metadata struct {
	ResearchID      string              `json:"research_id"`
	TopicKey        string              `json:"topic_key"` // topics/<key>/ has the other nights of the topic
	Topic           string              `json:"topic"`
	OptimizedTopic  string              `json:"optimized_topic"`
	Batch           string              `json:"batch"`
	State           topicqueue.RunState `json:"state"`
	Reason          string              `json:"reason,omitempty"`
	Title           string              `json:"title,omitempty"`
	Statistics      statistics          `json:"statistics"`
	ReportWordCount int                 `json:"report_word_count"`
	Sources         *sourceCounts       `json:"sources,omitempty"` // see sources.jsonl
	Citations       []string            `json:"citations"`         // ids of citations in the report
	// citations by the model that could not be resolved
	Removed   []citation.Removal    `json:"removed"`
	Fallbacks fallbacks             `json:"fallbacks"`
	Formats   []Format              `json:"formats,omitempty"` // of the report, besides Markdown
	Audio     *topicqueue.Narration `json:"audio,omitempty"`   // absent: no audio was requested
	// of the report; verification.json has the details of each sentence
	Verification *verified         `json:"verification,omitempty"`
	Usage        topicqueue.Totals `json:"usage"`
	Budget       *budgetLine       `json:"budget,omitempty"` // absent without a budget
	// of the blocks' finished iterations, by tool
	ToolCalls map[string]topicqueue.ToolCalls `json:"tool_calls"`
	// hashes of texts lost with the machine that kept them while the storage was unavailable
	MissingTexts []string `json:"missing_texts,omitempty"`
	// since the run that this run builds on
	Changes *recurring.Changes `json:"changes,omitempty"`
	Tally   topicqueue.Tally   `json:"tally"` // main counts, as shown in lists
	// readers' remarks about earlier reports on the topic, which were given to the writers
	Remarks     []topicqueue.Remark `json:"remarks,omitempty"`
	StartedAt   time.Time           `json:"started_at"`
	CompletedAt time.Time           `json:"completed_at"`

	weighed
}

// weighed is the evaluation of all claims of a run together.
type weighed struct {
	Contradictions []evidence.Contradiction `json:"contradictions"`
	Origins        int                      `json:"origins"` // independent origins of the cited sources
}

// verified summarizes the check of a report.
type verified struct {
	Status     string              `json:"status"`
	Reason     string              `json:"reason,omitempty"`
	Counts     checking.Counts     `json:"counts"`
	Evaluation checking.Evaluation `json:"evaluation"`
}

// verificationFile is verification.json: the decision about each citation and each sentence with citations.
type verificationFile struct {
	ResearchID string `json:"research_id"`
	*checking.Verification
	Unwritten []citation.Removal `json:"removed_markers"` // citations by the model that could not be resolved
}

// budgetLine holds the budget of a run and what it spent.
type budgetLine struct {
	Run   topicqueue.Budget `json:"run,omitzero"`
	Batch topicqueue.Budget `json:"batch,omitzero"` // shared by all runs of the batch
	Night topicqueue.Budget `json:"night,omitzero"` // shared by all runs of the night
	// final limit of this run, from its own budget and its share of the others
	Limit topicqueue.Budget `json:"limit"`
	Spent topicqueue.Budget `json:"spent"`
	Cuts  []string          `json:"cuts"` // topicqueue.CutReview and the following constants
}

// fallbacks are the steps that a model should have done but did not, by stage.
type fallbacks struct {
	Planning    []string `json:"planning"`
	Researching []string `json:"researching"`
	Reviewing   []string `json:"reviewing"`
	Reporting   []string `json:"reporting"`
}

// tallyOf counts the results of a run. report: nil without one.
func tallyOf(report *reporting.Report, usage []topicqueue.Usage) topicqueue.Tally {
	spent := topicqueue.Total(usage, nil)
	t := topicqueue.Tally{Calls: spent.Calls, Tokens: spent.Tokens, CostUSD: spent.CostUSD, Unpriced: spent.Unpriced}
	if report == nil {
		return t
	}
	if v := report.Verification; v != nil {
		t.Sentences, t.Supported, t.Unsupported = v.Counts.Sentences, v.Counts.Supported, v.Counts.Unsupported
		t.Quotes = v.QuotesOnly()
	}
	if c := report.Changes; c != nil {
		t.Since, t.Changes = c.Since, len(c.New)+len(c.Changed)+len(c.Withdrawn)
	}
	return t
}

func (b *Writer) metadata(run topicqueue.Run, usage []topicqueue.Usage) metadata {
	m := metadata{
		ResearchID: run.ID, TopicKey: recurring.Key(run.Topic, run.Options),
		Topic: run.Topic, OptimizedTopic: b.In.Plan.Topic, Batch: run.Batch, State: run.State,
		Reason:     run.Reason,
		Statistics: b.statistics(), Usage: topicqueue.Total(usage, nil), ToolCalls: run.ToolCalls, MissingTexts: b.Missing,
		Remarks: b.In.Plan.Remarks, Tally: b.Tally,
		StartedAt: run.StartedAt, CompletedAt: run.EndedAt,
		Citations: []string{}, Removed: []citation.Removal{},
		Fallbacks: fallbacks{Planning: list(b.In.Plan.Fallbacks), Researching: []string{}, Reviewing: []string{},
			Reporting: []string{}},
		weighed: weighed{Contradictions: []evidence.Contradiction{}},
	}
	counts := countSources(b.sources)
	m.Sources = &counts
	if limit := run.Options.Limit(); limit.Amount() > 0 {
		m.Budget = &budgetLine{run.Options.Budget, run.Options.BatchBudget, run.Options.NightBudget, limit.Of(run.Limit),
			limit.Of(run.Spent), list(run.Cuts)}
	}
	if why := b.In.Review.NotDone; why != "" {
		m.Fallbacks.Reviewing = append(m.Fallbacks.Reviewing, why)
	}
	for _, block := range b.In.Blocks {
		for _, f := range block.Block.Fallbacks {
			m.Fallbacks.Researching = append(m.Fallbacks.Researching, block.Block.ID+": "+f)
		}
	}
	if r := b.report; r != nil {
		m.Title, m.ReportWordCount, m.Changes, m.Formats = r.Title, r.Words, r.Changes, b.formats
		m.Audio = b.audio
		m.weighed = weighed{list(r.Evidence.Contradictions), r.Statistics.Origins}
		m.Citations, m.Removed, m.Fallbacks.Reporting = list(r.Cited), list(r.Removed), list(r.Fallbacks)
		if v := r.Verification; v != nil {
			m.Verification = &verified{Status: v.Status, Reason: v.Reason, Counts: v.Counts, Evaluation: v.Evaluation}
		}
	}
	return m
}
