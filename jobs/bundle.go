package jobs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/reporting"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// verificationName is the file of a bundle that says how its report was checked.
const verificationName = "verification.json"

// bundle is the files that one run leaves behind. Keys of the JSON files are those of the DTQ's origin; ours are added.
type bundle struct {
	*storage.Bundle
	bundleServices
	leased  storage.Store // see leasedStore
	in      reporting.Input
	report  *reporting.Report // nil when there is none
	staged  []string          // pages and figures that storage has already
	pages   returnedPages
	sources []sourceLine
	missing []string // texts that traces and calls name and storage does not have
	lost    int      // of these: on which claims, links of the report or its registry rest
	formats []format // the report in other forms
}

// bundleServices is what bundles are made with.
type bundleServices struct {
	queue  *redisqueue.Queue
	store  storage.Store
	config map[string]string // settings of this worker by path, secrets redacted
	format func(name string, r formats.Report) ([]byte, error)
	now    func() time.Time
}

// newBundle returns the bundle of a run. leased: the storage, for what is changed.
func newBundle(s bundleServices, leased storage.Store, in reporting.Input, rep *reporting.Report) *bundle {
	return &bundle{Bundle: storage.NewBundle(leased, in.Run.ID), bundleServices: s, leased: leased, in: in, report: rep}
}

func (b *bundle) cacheKey(name string) string { return storage.CacheKey(b.in.Run.ID, name) }

// put stores everything of a run that has ended, and the manifest last.
func (b *bundle) put(ctx context.Context) error {
	run := b.in.Run
	if err := b.leased.Delete(ctx, storage.ManifestKey(run.ID)); err != nil { // of an earlier epoch
		return err
	}
	usage, err := b.bundleServices.queue.Usage(ctx, run.ID)
	if err != nil {
		return err
	}
	events, err := b.bundleServices.queue.AllEvents(ctx, run.ID, b.now())
	if err != nil {
		return err
	}
	if err := b.makeFormats(ctx); err != nil {
		return err
	}
	traces := b.in.Traces()
	var cited []string
	if b.report != nil {
		cited = citedOf(b.report.Cited, b.report.Verification)
	}
	b.sources = sourceLines(b.in, cited, b.missing)
	for _, put := range []func() error{
		func() error { return b.PutJSON(ctx, storage.MetadataKey(run.ID), b.metadata(run, usage)) },
		func() error { return b.PutJSON(ctx, b.cacheKey("queue.json"), b.queue(run)) },
		func() error { return b.PutJSON(ctx, b.cacheKey("citations.json"), b.citations(run, traces)) },
		func() error { return b.PutJSON(ctx, b.cacheKey("step1_planning.json"), b.planning()) },
		func() error { return b.PutJSON(ctx, b.cacheKey("token_cost_summary.json"), costs(usage)) },
		func() error {
			run.PublishedAt = b.now().UTC() // when all of this is there
			return b.PutJSON(ctx, b.cacheKey("config.json"), configFile{run, b.config})
		},
		func() error { return storage.PutLines(ctx, b.Bundle, b.cacheKey("sources.jsonl"), b.sources) },
		func() error { return storage.PutLines(ctx, b.Bundle, b.cacheKey("claims.jsonl"), b.claims(traces)) },
		func() error { return storage.PutLines(ctx, b.Bundle, b.cacheKey("events.jsonl"), events) },
		func() error { return b.putProgress(ctx, events) },
	} {
		if err := put(); err != nil {
			return err
		}
	}
	if b.report != nil {
		if err := b.Put(ctx, storage.ReportKey(run.ID), []byte(b.report.Markdown)); err != nil {
			return err
		}
		if err := b.putFormats(ctx); err != nil {
			return err
		}
		if err := b.PutJSON(ctx, b.cacheKey("outline.json"), b.report.Outline); err != nil {
			return err
		}
		if v := b.report.Verification; v != nil { // nil: written by a version that did not check
			if err := b.PutJSON(ctx, b.cacheKey(verificationName),
				verificationFile{run.ID, v, list(b.report.Removed)}); err != nil {
				return err
			}
		}
	}
	return b.Close(ctx, b.staged, b.now())
}

// configFile says how a run was to be worked: its options, frozen when it was enqueued, and the settings of the worker
// that has published it.
type configFile struct {
	topicqueue.Run
	Settings map[string]string `json:"settings"`
}

// How long after its end a run waits for texts that another machine keeps while the storage is away.
const (
	textsWait = 10 * time.Minute // that its claims rest on
	otherWait = time.Minute      // that were read and nothing came of them
)

// gather sees to it that the texts which a run has read are in storage. Those of a machine that does not come back are
// given up after a while: the bundle says that they are missing, and when something rests on them the run is no
// success.
func (b *bundle) gather(ctx context.Context) error {
	if f, ok := b.store.(storage.Flusher); ok {
		if _, err := f.Flush(ctx); err != nil {
			return err
		}
	}
	var err error
	if b.staged, err = b.Staged(ctx); err != nil {
		return err
	}
	if err = b.findMissing(ctx); err != nil {
		return err
	}
	wait := otherWait
	if b.lost > 0 {
		wait = textsWait
	}
	if n := len(b.missing); n > 0 && b.now().Before(b.in.Run.EndedAt.Add(wait)) {
		return fmt.Errorf("%d texts that the run has read wait on another machine for the storage", n)
	}
	return nil
}

// findMissing reads what calls have returned, and notes the texts that traces and calls name and that are not staged.
func (b *bundle) findMissing(ctx context.Context) (err error) {
	b.missing, b.lost = nil, 0
	there, linked := map[string]bool{}, map[string]bool{}
	if b.report != nil {
		for _, id := range citedOf(nil, b.report.Verification) {
			linked[id] = true
		}
	}
	for _, key := range b.staged {
		if strings.HasPrefix(key, b.cacheKey("pages/")) {
			there[pageHash(key)] = true
		}
	}
	name := func(hash string, rests bool) {
		if hash == "" || there[hash] {
			return
		}
		there[hash] = true
		b.missing = append(b.missing, hash)
		if rests {
			b.lost++
		}
	}
	need := func(hash string) { name(hash, true) }
	for _, t := range b.in.Traces() {
		if t.Timestamp.Before(b.in.Run.StartedAt) { // of an earlier run on the topic, in whose bundle the whole answer lies
			need(t.Source.Hash)
			continue
		}
		need(pageHash(t.RawAnswer))
		need(t.Source.Hash)
	}
	lists := b.pages.inOrder(b.in.Blocks)
	for _, hash := range lists {
		need(hash)
	}
	lists = slices.DeleteFunc(lists, func(hash string) bool { return slices.Contains(b.missing, hash) })
	if b.in.Returned, err = readReturned(ctx, b.store, b.in.Run.ID, lists); err != nil {
		return err
	}
	for _, c := range b.in.Returned {
		for _, s := range c.Sources {
			name(s.Hash, linked[s.ID])
		}
	}
	return nil
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
	// pages/<sha256>.txt: what the calls of each iteration returned
	Returned []string       `json:"returned,omitempty"`
	Metadata map[string]any `json:"metadata"`
}

func (b *bundle) queue(run topicqueue.Run) queueFile {
	f := queueFile{ResearchID: run.ID, CreatedAt: run.CreatedAt, Blocks: []queueBlock{}, Statistics: b.statistics()}
	for _, block := range b.in.Blocks {
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
	// pages/<sha256>.txt: what the calls of planning returned
	Returned string `json:"returned,omitempty"`
}

func (b *bundle) planning() planningFile {
	p := b.in.Plan
	f := planningFile{
		MainTopic: b.in.Run.Topic, OptimizedTopic: p.Topic, SubQueries: list(p.Queries), SubTopics: p.SubTopics,
		TotalSubTopics: len(p.SubTopics), Mode: p.Mode, Traces: list(p.Traces),
	}
	if p.Returned != "" {
		f.Returned = topicqueue.PagePath(p.Returned)
	}
	return f
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
