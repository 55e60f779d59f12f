package jobs

import (
	"context"
	"path"
	"strings"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// verificationName is the file of a bundle that says how its report was checked.
const verificationName = "verification.json"

// bundle is the files that one run leaves behind. Keys of the JSON files are those of the DTQ's origin; ours are added.
type bundle struct {
	*storage.Bundle
	w       *Worker
	in      reporting.Input
	report  *reporting.Report // nil when there is none
	asked   []recurring.Call  // of a run whose topic is researched again and again
	staged  []string          // pages and figures that storage has already
	missing []string          // texts that traces name and storage does not have
}

func newBundle(w *Worker, in reporting.Input, rep *reporting.Report) *bundle {
	return &bundle{Bundle: storage.NewBundle(w.Store, in.Run.ID), w: w, in: in, report: rep}
}

func (b *bundle) cacheKey(name string) string { return storage.CacheKey(b.in.Run.ID, name) }

// put stores everything of a run that has ended, and the manifest last.
func (b *bundle) put(ctx context.Context) error {
	run := b.in.Run
	if err := b.w.Store.Delete(ctx, storage.ManifestKey(run.ID)); err != nil { // of an earlier epoch
		return err
	}
	usage, err := b.w.Queue.Usage(ctx, run.ID)
	if err != nil {
		return err
	}
	events, err := b.w.Queue.AllEvents(ctx, run.ID, b.w.Now())
	if err != nil {
		return err
	}
	traces := b.in.Traces()
	for _, put := range []func() error{
		func() error { return b.PutJSON(ctx, storage.MetadataKey(run.ID), b.metadata(run, usage)) },
		func() error { return b.PutJSON(ctx, b.cacheKey("queue.json"), b.queue(run)) },
		func() error { return b.PutJSON(ctx, b.cacheKey("citations.json"), b.citations(run, traces)) },
		func() error { return b.PutJSON(ctx, b.cacheKey("step1_planning.json"), b.planning()) },
		func() error { return b.PutJSON(ctx, b.cacheKey("token_cost_summary.json"), costs(usage)) },
		func() error {
			run.PublishedAt = b.w.Now().UTC() // when all of this is there
			return b.PutJSON(ctx, b.cacheKey("config.json"), configFile{run, b.w.Config})
		},
		func() error { return storage.PutLines(ctx, b.Bundle, b.cacheKey("sources.jsonl"), sourcesOf(traces)) },
		func() error { return storage.PutLines(ctx, b.Bundle, b.cacheKey("claims.jsonl"), b.claims(traces)) },
		func() error { return storage.PutLines(ctx, b.Bundle, b.cacheKey("events.jsonl"), events) },
		func() error { return b.putProgress(ctx, events) },
	} {
		if err := put(); err != nil {
			return err
		}
	}
	if b.asked != nil {
		if err := b.PutJSON(ctx, b.cacheKey("asked.json"), b.asked); err != nil {
			return err
		}
	}
	if b.report != nil {
		if err := b.Put(ctx, storage.ReportKey(run.ID), []byte(b.report.Markdown)); err != nil {
			return err
		}
		if err := b.PutJSON(ctx, b.cacheKey("outline.json"), b.report.Outline); err != nil {
			return err
		}
		if v := b.report.Verification; v != nil { // nil: written by a version that did not check
			if err := b.PutJSON(ctx, b.cacheKey(verificationName), verificationFile{run.ID, v, list(b.report.Removed)}); err != nil {
				return err
			}
		}
	}
	return b.Close(ctx, b.staged, b.w.Now())
}

// configFile says how a run was to be worked: its options, frozen when it was enqueued, and the settings of the worker
// that has published it.
type configFile struct {
	topicqueue.Run
	Settings map[string]string `json:"settings"`
}

// missingTexts returns the hashes of texts that traces name and that are not staged.
func (b *bundle) missingTexts() []string {
	there := map[string]bool{}
	for _, key := range b.staged {
		if strings.HasPrefix(key, b.cacheKey("pages/")) {
			there[strings.TrimSuffix(path.Base(key), path.Ext(key))] = true
		}
	}
	var missing []string
	need := func(hash string) {
		if hash != "" && !there[hash] {
			there[hash] = true
			missing = append(missing, hash)
		}
	}
	for _, t := range b.in.Traces() {
		if t.Timestamp.Before(b.in.Run.StartedAt) { // of an earlier run on the topic, in whose bundle the whole answer lies
			need(t.Source.Hash)
			continue
		}
		need(strings.TrimSuffix(path.Base(t.RawAnswer), path.Ext(t.RawAnswer)))
		need(t.Source.Hash)
	}
	return missing
}

// statistics counts the blocks of a run.
type statistics struct {
	TotalBlocks    int `json:"total_blocks"`
	Pending        int `json:"pending"`
	Researching    int `json:"researching"`
	Completed      int `json:"completed"`
	Failed         int `json:"failed"`
	TotalToolCalls int `json:"total_tool_calls"`
	GapBlocks      int `json:"gap_blocks"` // that reviews have added
}

func (b *bundle) statistics() statistics {
	s := statistics{TotalBlocks: len(b.in.Blocks)}
	calls := map[string]bool{}
	for _, block := range b.in.Blocks {
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
	ResearchID      string                          `json:"research_id"`
	Topic           string                          `json:"topic"`
	OptimizedTopic  string                          `json:"optimized_topic"`
	Batch           string                          `json:"batch"`
	State           topicqueue.RunState             `json:"state"`
	Reason          string                          `json:"reason,omitempty"`
	Title           string                          `json:"title,omitempty"`
	Statistics      statistics                      `json:"statistics"`
	ReportWordCount int                             `json:"report_word_count"`
	Citations       []string                        `json:"citations"` // ids that the report cites
	Removed         []citation.Removal              `json:"removed"`   // what the model cited and could not be resolved
	Lost            []string                        `json:"lost"`      // facts of cited sources that no claim has, with their sentences
	Fallbacks       fallbacks                       `json:"fallbacks"`
	Verification    *verified                       `json:"verification,omitempty"` // of the report; verification.json has each sentence
	Usage           usageTotals                     `json:"usage"`
	Budget          *budgetLine                     `json:"budget,omitempty"`        // absent without one
	ToolCalls       map[string]topicqueue.ToolCalls `json:"tool_calls"`              // of the blocks' finished iterations, by tool
	MissingTexts    []string                        `json:"missing_texts,omitempty"` // hashes: a machine kept them while the storage was away, and is gone
	Changes         *recurring.Changes              `json:"changes,omitempty"`       // since the run that this one goes on from
	StartedAt       time.Time                       `json:"started_at"`
	CompletedAt     time.Time                       `json:"completed_at"`

	weighed
}

// weighed is what the claims of a run say together.
type weighed struct {
	Contradictions []evidence.Contradiction `json:"contradictions"`
	Statements     int                      `json:"statements"`      // what claims say, each counted once
	ThinStatements int                      `json:"thin_statements"` // of these, stated by one independent source alone
}

// verified sums up how a report was checked.
type verified struct {
	Status     string                       `json:"status"`
	Reason     string                       `json:"reason,omitempty"`
	Counts     reporting.VerificationCounts `json:"counts"`
	Evaluation reporting.Evaluation         `json:"evaluation"`
	Judgement  *reporting.Judgement         `json:"judgement,omitempty"`
}

// verificationFile is verification.json: what was decided about each citation and each sentence that cites.
type verificationFile struct {
	ResearchID string `json:"research_id"`
	*reporting.Verification
	Unwritten []citation.Removal `json:"removed_markers"` // what the model cited and could not be resolved
}

// budgetLine says what a run might spend and has spent.
type budgetLine struct {
	Run   topicqueue.Budget `json:"run,omitzero"`
	Batch topicqueue.Budget `json:"batch,omitzero"` // of all runs of the batch together
	Night topicqueue.Budget `json:"night,omitzero"` // of all runs of the night together
	Limit topicqueue.Budget `json:"limit"`          // of this run in the end, by its own budget and its share of the others
	Spent topicqueue.Budget `json:"spent"`
	Cuts  []string          `json:"cuts"` // see topicqueue.CutReview and those after it
}

// fallbacks are the steps that a model should have done and did not, by stage.
type fallbacks struct {
	Planning    []string `json:"planning"`
	Researching []string `json:"researching"`
	Reviewing   []string `json:"reviewing"`
	Reporting   []string `json:"reporting"`
}

func (b *bundle) metadata(run topicqueue.Run, usage []topicqueue.Usage) metadata {
	m := metadata{
		ResearchID: run.ID, Topic: run.Topic, OptimizedTopic: b.in.Plan.Topic, Batch: run.Batch, State: run.State, Reason: run.Reason,
		Statistics: b.statistics(), Usage: total(usage), ToolCalls: run.ToolCalls, MissingTexts: b.missing, StartedAt: run.StartedAt, CompletedAt: run.EndedAt,
		Citations: []string{}, Lost: []string{}, Removed: []citation.Removal{},
		Fallbacks: fallbacks{Planning: list(b.in.Plan.Fallbacks), Researching: []string{}, Reviewing: []string{}, Reporting: []string{}},
		weighed:   weighed{Contradictions: []evidence.Contradiction{}},
	}
	if limit := run.Options.Limit(); limit.Amount() > 0 {
		m.Budget = &budgetLine{run.Options.Budget, run.Options.BatchBudget, run.Options.NightBudget, limit.Of(run.Limit), limit.Of(run.Spent), list(run.Cuts)}
	}
	if why := b.in.Review.NotDone; why != "" {
		m.Fallbacks.Reviewing = append(m.Fallbacks.Reviewing, why)
	}
	for _, block := range b.in.Blocks {
		for _, f := range block.Block.Fallbacks {
			m.Fallbacks.Researching = append(m.Fallbacks.Researching, block.Block.ID+": "+f)
		}
		for _, t := range block.Traces {
			for _, line := range t.Lost {
				m.Lost = append(m.Lost, t.CitationID+": "+line)
			}
		}
	}
	if r := b.report; r != nil {
		m.Title, m.ReportWordCount, m.Changes = r.Title, r.Words, r.Changes
		m.weighed = weighed{list(r.Evidence.Contradictions), r.Statistics.Statements, r.Statistics.ThinStatements}
		m.Citations, m.Removed, m.Fallbacks.Reporting = list(r.Cited), list(r.Removed), list(r.Fallbacks)
		if v := r.Verification; v != nil {
			m.Verification = &verified{Status: v.Status, Reason: v.Reason, Counts: v.Counts, Evaluation: v.Evaluation, Judgement: v.Judgement}
		}
	}
	return m
}

// list makes an absent list an empty one: readers of the JSON expect a list.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

type queueFile struct {
	ResearchID string       `json:"research_id"`
	CreatedAt  time.Time    `json:"created_at"`
	Blocks     []queueBlock `json:"blocks"`
	Statistics statistics   `json:"statistics"`
}

type queueBlock struct {
	topicqueue.Block
	ToolTraces []topicqueue.ToolTrace `json:"tool_traces"`
	Metadata   map[string]any         `json:"metadata"`
}

func (b *bundle) queue(run topicqueue.Run) queueFile {
	f := queueFile{ResearchID: run.ID, CreatedAt: run.CreatedAt, Blocks: []queueBlock{}, Statistics: b.statistics()}
	for _, block := range b.in.Blocks {
		f.Blocks = append(f.Blocks, queueBlock{Block: block.Block, ToolTraces: list(block.Traces), Metadata: map[string]any{}})
	}
	return f
}

type citationsFile struct {
	ResearchID string                          `json:"research_id"`
	UpdatedAt  time.Time                       `json:"updated_at"`
	Citations  map[string]topicqueue.ToolTrace `json:"citations"`
	Counters   citationCounters                `json:"counters"`
}

type citationCounters struct {
	PlanCounter   int            `json:"plan_counter"`
	BlockCounters map[string]int `json:"block_counters"`
}

func (b *bundle) citations(run topicqueue.Run, traces []topicqueue.ToolTrace) citationsFile {
	f := citationsFile{
		ResearchID: run.ID, UpdatedAt: run.EndedAt, Citations: map[string]topicqueue.ToolTrace{},
		Counters: citationCounters{PlanCounter: len(b.in.Plan.Traces), BlockCounters: map[string]int{}},
	}
	for _, t := range traces {
		f.Citations[t.CitationID] = t
	}
	for _, block := range b.in.Blocks {
		f.Counters.BlockCounters[block.Block.ID] = len(block.Traces)
	}
	return f
}

type planningFile struct {
	MainTopic      string                 `json:"main_topic"`
	OptimizedTopic string                 `json:"optimized_topic"`
	SubQueries     []string               `json:"sub_queries"`
	SubTopics      []topicqueue.SubTopic  `json:"sub_topics"`
	TotalSubTopics int                    `json:"total_subtopics"`
	Mode           string                 `json:"mode"`
	Traces         []topicqueue.ToolTrace `json:"tool_traces"`
}

func (b *bundle) planning() planningFile {
	p := b.in.Plan
	return planningFile{
		MainTopic: b.in.Run.Topic, OptimizedTopic: p.Topic, SubQueries: list(p.Queries), SubTopics: p.SubTopics,
		TotalSubTopics: len(p.SubTopics), Mode: p.Mode, Traces: list(p.Traces),
	}
}

func sourcesOf(traces []topicqueue.ToolTrace) []topicqueue.Source {
	seen, out := map[string]bool{}, []topicqueue.Source{}
	for _, t := range traces {
		if !seen[t.Source.ID] {
			seen[t.Source.ID] = true
			out = append(out, t.Source)
		}
	}
	return out
}

// claimLine is a claim in claims.jsonl.
type claimLine struct {
	topicqueue.Claim
	Support int `json:"support,omitempty"` // independent sources that state it; absent when there is no report
}

func (b *bundle) claims(traces []topicqueue.ToolTrace) []claimLine {
	var support map[string]int
	if b.report != nil {
		support = b.report.Evidence.Support()
	}
	out := []claimLine{}
	for _, t := range traces {
		for _, c := range t.Claims {
			out = append(out, claimLine{c, support[c.ID]})
		}
	}
	return out
}

// usageTotals sums model calls.
type usageTotals struct {
	Calls            int     `json:"total_calls"`
	Failed           int     `json:"failed_calls"`
	PromptTokens     int     `json:"total_prompt_tokens"`
	CompletionTokens int     `json:"total_completion_tokens"`
	CachedTokens     int     `json:"total_cached_tokens"` // of those of questions: read from the provider's cache
	Tokens           int     `json:"total_tokens"`
	Estimated        int     `json:"estimated_calls"` // calls whose tokens the provider did not say
	CostUSD          float64 `json:"total_cost_usd"`  // of the calls whose model has a known price
	Unpriced         int     `json:"unpriced_calls"`  // the others
}

func total(usage []topicqueue.Usage) usageTotals {
	var t usageTotals
	for _, u := range usage {
		t.add(u)
	}
	return t
}

func (t *usageTotals) add(u topicqueue.Usage) {
	t.Calls++
	t.PromptTokens += u.PromptTokens
	t.CompletionTokens += u.CompletionTokens
	t.CachedTokens += u.CachedTokens
	t.Tokens += u.PromptTokens + u.CompletionTokens
	if u.Failed {
		t.Failed++
	}
	if u.Estimated {
		t.Estimated++
	}
	if u.CostUSD != nil {
		t.CostUSD += *u.CostUSD
	} else {
		t.Unpriced++
	}
}

type costFile struct {
	Summary costSummary        `json:"summary"`
	Records []topicqueue.Usage `json:"records"`
}

type costSummary struct {
	usageTotals
	ByRole  map[string]*usageTotals `json:"by_role"`
	ByStage map[string]*usageTotals `json:"by_stage"`
	ByModel map[string]*usageTotals `json:"by_model"`
}

func costs(usage []topicqueue.Usage) costFile {
	s := costSummary{usageTotals: total(usage), ByRole: map[string]*usageTotals{}, ByStage: map[string]*usageTotals{}, ByModel: map[string]*usageTotals{}}
	for _, u := range usage {
		for _, group := range []struct {
			totals map[string]*usageTotals
			name   string
		}{{s.ByRole, u.Role}, {s.ByStage, u.Stage}, {s.ByModel, u.Model}} {
			if group.totals[group.name] == nil {
				group.totals[group.name] = &usageTotals{}
			}
			group.totals[group.name].add(u)
		}
	}
	return costFile{Summary: s, Records: list(usage)}
}
