// Package bundle writes the files of an ended run to the storage: its report, the evidence for it, and a manifest. It
// also reads bundles, and verifies them from their files alone.
//
// Entry points: [NewWriter], [Read], [Verify] and [Archive].
package bundle

import (
	"context"
	"errors"
	"slices"
	"time"

	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Writer writes the bundle of one run. Call Gather, then Write. The JSON files use the keys of the system that the
// topic queue is based on, plus our own.
type Writer struct {
	files    *storage.Bundle
	services Services
	leased   storage.Store     // storage for changes to the bundle
	In       reporting.Input   // findings of the run; Gather adds the sources returned by its calls
	report   *reporting.Report // nil without a report
	staged   []string          // pages and figures already in storage
	pages    ReturnedPages
	sources  []sourceLine
	Missing  []string              // texts that traces and calls refer to and that are not in storage; set by Gather
	formats  []Format              // the report in other formats
	audio    *topicqueue.Narration // nil: not requested
	Tally    topicqueue.Tally      // results of the run; set by Write
}

// Services are the services that bundles are made with.
type Services struct {
	Queue  *redisqueue.Queue
	Store  storage.Store
	Config map[string]string // settings of this worker by path, secrets redacted
	Format func(name string, r formats.Report) ([]byte, error)
	Now    func() time.Time
}

// NewWriter returns a writer for the bundle of a run. leased: the storage, while the publication holds its lease. rep:
// nil without a report.
func NewWriter(s Services, leased storage.Store, in reporting.Input, pages ReturnedPages,
	rep *reporting.Report) *Writer {
	if rep != nil {
		in.Computed = rep.Outline.Computed
	}
	return &Writer{files: storage.NewBundle(leased, in.Run.ID), services: s, leased: leased, In: in, pages: pages,
		report: rep}
}

// Write stores all files of an ended run together, then the manifest.
func (b *Writer) Write(ctx context.Context) error {
	run := b.In.Run
	if err := b.leased.Delete(ctx, storage.ManifestKey(run.ID)); err != nil { // from an earlier epoch
		return err
	}
	usage, err := b.services.Queue.Usage(ctx, run.ID)
	if err != nil {
		return err
	}
	events, err := b.services.Queue.AllEvents(ctx, run.ID, b.services.Now())
	if err != nil {
		return err
	}
	if err := b.makeFormats(ctx); err != nil {
		return err
	}
	b.Tally = tallyOf(b.report, usage)
	traces := b.In.Traces()
	var cited []string
	if b.report != nil {
		cited = citedOf(b.report.Cited, b.report.Verification)
	}
	b.sources = sourceLines(b.In, cited, b.Missing)
	errs := []error{
		b.files.PutJSON(storage.MetadataKey(run.ID), b.metadata(run, usage)),
		queueJSON.put(b, b.queue(run)),
		citationsJSON.put(b, b.citations(run, traces)),
		planningJSON.put(b, b.planning()),
		costsJSON.put(b, costs(usage)),
		configJSON.put(b, b.config(run)),
		sourcesJSONL.put(b, b.sources),
		claimsJSONL.put(b, b.claims(traces)),
		eventsJSONL.put(b, events),
		b.putProgress(events),
	}
	if r := b.report; r != nil {
		b.files.Put(storage.ReportKey(run.ID), []byte(r.Markdown))
		if r.Tree.Format > 0 { // else readers of the bundle read the Markdown
			errs = append(errs, reportJSON.put(b, r.Tree))
		}
		errs = append(errs, outlineJSON.put(b, r.Outline))
		if v := r.Verification; v != nil { // nil: written by a version without checks
			errs = append(errs, verificationJSON.put(b, verificationFile{run.ID, v, list(r.Removed)}))
		}
		errs = append(errs, b.putFormats(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return b.files.Close(ctx, b.staged, b.services.Now())
}

// configFile holds the configuration of a run: its options, frozen when it was enqueued, and the settings of the worker
// that published it.
type configFile struct {
	topicqueue.Run
	Settings map[string]string `json:"settings"`
}

func (b *Writer) config(run topicqueue.Run) configFile {
	run.PublishedAt = b.services.Now().UTC()
	return configFile{run, b.services.Config}
}

// Gather finds what of the run is in storage, and reads the lists of returned sources. A text that was removed there is
// recorded as missing.
func (b *Writer) Gather(ctx context.Context) (err error) {
	for _, t := range b.In.Computed { // their texts are in the report alone
		if err := (storage.Pages{Store: b.leased}).PutPage(ctx, b.In.Run.ID, t.Source.Hash, t.Claims[0].Quote); err != nil {
			return err
		}
	}
	if b.staged, err = b.files.Staged(ctx); err != nil {
		return err
	}
	b.findNarration()
	there := map[string]bool{"": true}
	for _, key := range b.staged {
		there[pageHash(key)] = true
	}
	need := func(hash string) {
		if !there[hash] {
			b.Missing = append(b.Missing, hash)
		}
		there[hash] = true
	}
	for _, t := range b.In.Traces() {
		if !t.Timestamp.Before(b.In.Run.StartedAt) { // else the bundle of the earlier run has the whole answer
			need(pageHash(t.RawAnswer))
		}
		need(t.Source.Hash)
	}
	lists := b.pages.InOrder(b.In.Blocks)
	for _, hash := range lists {
		need(hash)
	}
	lists = slices.DeleteFunc(lists, func(hash string) bool { return slices.Contains(b.Missing, hash) })
	if b.In.Returned, err = ReadReturned(ctx, b.services.Store, b.In.Run.ID, lists); err != nil {
		return err
	}
	for _, c := range b.In.Returned {
		for _, s := range c.Sources {
			need(s.Hash)
		}
	}
	return nil
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
	// pages/<sha256>.txt: sources returned by the calls of each iteration
	Returned []string       `json:"returned,omitempty"`
	Metadata map[string]any `json:"metadata"`
}

func (b *Writer) queue(run topicqueue.Run) queueFile {
	f := queueFile{ResearchID: run.ID, CreatedAt: run.CreatedAt, Blocks: []queueBlock{}, Statistics: b.statistics()}
	for _, block := range b.In.Blocks {
		q := queueBlock{Block: block.Block, ToolTraces: list(block.Traces), Metadata: map[string]any{}}
		for _, hash := range b.pages[block.Block.ID] {
			q.Returned = append(q.Returned, topicqueue.PagePath(hash))
		}
		f.Blocks = append(f.Blocks, q)
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

func (b *Writer) citations(run topicqueue.Run, traces []topicqueue.ToolTrace) citationsFile {
	f := citationsFile{
		ResearchID: run.ID, UpdatedAt: run.EndedAt, Citations: map[string]topicqueue.ToolTrace{},
		Counters: citationCounters{PlanCounter: len(b.In.Plan.Traces), BlockCounters: map[string]int{}},
	}
	for _, t := range traces {
		f.Citations[t.CitationID] = t
	}
	for _, block := range b.In.Blocks {
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
	// pages/<sha256>.txt: sources returned by the calls of planning
	Returned string `json:"returned,omitempty"`
	Path     string `json:"path,omitempty"`        // shallow: the topic was answered in one conversation
	Why      string `json:"path_reason,omitempty"` // why a model chose it
	// attached to the run
	Documents []topicqueue.Document `json:"available_documents,omitempty"`
	// readers' remarks about earlier reports on the topic
	Remarks []topicqueue.Remark `json:"remarks,omitempty"`
}

func (b *Writer) planning() planningFile {
	p := b.In.Plan
	f := planningFile{
		MainTopic: b.In.Run.Topic, OptimizedTopic: p.Topic, SubQueries: list(p.Queries), SubTopics: p.SubTopics,
		TotalSubTopics: len(p.SubTopics), Mode: p.Mode, Traces: list(p.Traces), Path: p.Path, Why: p.Why,
		Documents: p.Documents, Remarks: p.Remarks,
	}
	if p.Returned != "" {
		f.Returned = topicqueue.PagePath(p.Returned)
	}
	return f
}

// claimLine is a claim in claims.jsonl.
type claimLine struct {
	topicqueue.Claim
	Support int `json:"support,omitempty"` // number of independent sources that state it; absent without a report
}

func (b *Writer) claims(traces []topicqueue.ToolTrace) []claimLine {
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
