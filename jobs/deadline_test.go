package jobs_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// atMost is the maximum time from the deadline, or from the first ready worker if later, to the end of the run. Without
// a deadline, the run would wait a minute for a model call.
var atMost = scaletest.Of(20*time.Second, 5*time.Second)

// length is the duration of the runs. It suffices for a busy machine to plan and to research one block.
const length = 12 * time.Second

// TestDeadline: whatever hangs, a run ends and is published in time, with a valid stream and its findings.
func TestDeadline(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	bounded := func() topicqueue.Options {
		o := options(3, 2, 1)
		o.Duration, o.WritingTime = length, 5*time.Second
		return o
	}
	hangAt := func(name string) func(*bench) *llmtest.Stub {
		return func(b *bench) *llmtest.Stub {
			return &llmtest.Stub{Intercept: func(_ http.ResponseWriter, q llmtest.Question) bool {
				if strings.HasPrefix(q.Name, name) && (name != "decide" || len(b.blocksDone()) > 0) {
					<-b.end
				}
				return false
			}}
		}
	}
	for name, tc := range map[string]struct {
		model   func(*bench) *llmtest.Stub // nil: none
		options func(*topicqueue.Options)
		prepare func(t *testing.T, b *bench)
		before  func(t *testing.T, b *bench, id string) // before any worker is started
		worker  jobs.Settings
		states  []topicqueue.RunState
	}{
		"a model that never answers":                 {model: hangAt(""), states: []topicqueue.RunState{topicqueue.RunPartial, topicqueue.RunFailed}},
		"a model that stops answering in the middle": {model: hangAt("decide"), states: []topicqueue.RunState{topicqueue.RunPartial}},
		"a model that never writes":                  {model: hangAt("outline"), states: []topicqueue.RunState{topicqueue.RunPartial}},
		"a model that drips": {model: func(*bench) *llmtest.Stub { return &llmtest.Stub{Drip: time.Second} },
			states: []topicqueue.RunState{topicqueue.RunPartial, topicqueue.RunFailed}},
		"a tool that never returns": {model: func(*bench) *llmtest.Stub { return &llmtest.Stub{} }, prepare: func(t *testing.T, b *bench) {
			b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
				return jobs.Toolbox{Tools: tools.Set{deaf{tools.NewRAGHybrid(b.base, 6), b}}, Sections: b.base}, nil
			}
		}, states: []topicqueue.RunState{topicqueue.RunPartial, topicqueue.RunFailed}},
		"its worker has died while it planned": {before: func(t *testing.T, b *bench, id string) {
			if _, err := b.services.Queue.Begin(t.Context(), id, redisqueue.UnitPlan, 1); err != nil {
				t.Fatal(err)
			}
		}, states: []topicqueue.RunState{topicqueue.RunFailed}},
		"its worker has died while it researched": {before: func(t *testing.T, b *bench, id string) { b.dead(id) },
			states: []topicqueue.RunState{topicqueue.RunPartial}},
		"its worker has died while it reviewed": {options: func(o *topicqueue.Options) { o.MaxLoops = 1 }, before: func(t *testing.T, b *bench, id string) {
			b.researched(id)
			if _, err := b.services.Queue.Begin(t.Context(), id, redisqueue.UnitReview, 1); err != nil {
				t.Fatal(err)
			}
		}, states: []topicqueue.RunState{topicqueue.RunPartial}},
		"it is paused": {before: func(t *testing.T, b *bench, id string) {
			b.dead(id)
			if err := b.services.Queue.Pause(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}, states: []topicqueue.RunState{topicqueue.RunPartial}},
		"it waits for an answer": {before: func(t *testing.T, b *bench, id string) {
			begun, err := b.services.Queue.Begin(t.Context(), id, redisqueue.UnitPlan, 1)
			if err == nil {
				err = b.services.Queue.Await(t.Context(), begun.Lease, topicqueue.Question{Text: "Which?"}, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, states: []topicqueue.RunState{topicqueue.RunFailed}},
		"it waits behind others": {model: hangAt(""), worker: jobs.Settings{Concurrency: 1, ReportConcurrency: 1}, options: func(o *topicqueue.Options) {
			o.Deadline, o.Duration = time.Now().Add(length), 0
		}, prepare: func(t *testing.T, b *bench) {
			for _, other := range []string{"one", "two"} {
				b.enqueue("other topic "+other, options(1, 1, 1), tasks.LaneHigh) // without end
			}
		}, states: []topicqueue.RunState{topicqueue.RunFailed}},
		"its report waits behind others": {worker: jobs.Settings{Concurrency: 1}, before: func(t *testing.T, b *bench, id string) {
			b.researched(id)
			b.services.Model = stubModel(t, hangAt("")(b))
			b.enqueue("other topic", options(1, 1, 1), tasks.LaneHigh)
		}, states: []topicqueue.RunState{topicqueue.RunPartial}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, redistest.Server(t), nil)
			b.end = make(chan struct{})
			if tc.model != nil {
				b.services.Model = stubModel(t, tc.model(b))
			}
			if tc.prepare != nil {
				tc.prepare(t, b)
			}
			o := bounded()
			if tc.before != nil { // while nobody works it, its duration does not pass
				o.Deadline, o.Duration = time.Now().Add(length), 0
			}
			if tc.options != nil {
				tc.options(&o)
			}
			start := time.Now()
			id := b.enqueue(topic, o, "")
			deadline := start.Add(length)
			ready := start
			if tc.before != nil {
				tc.before(t, b, id)
				if !strings.Contains(name, "behind") {
					time.Sleep(time.Until(deadline.Add(100 * time.Millisecond))) // all workers are dead until then
				}
				ready = time.Now()
			}
			w := b.start(tc.worker)
			t.Cleanup(func() { // before the servers close
				close(b.end) // other runs may hang
				w.Stop()
			})
			run := b.until(id, "ended", func(r topicqueue.Run) bool { return r.State.Final() })
			if ready.Before(deadline) {
				ready = deadline
			}
			if late := run.EndedAt.Sub(ready); late > atMost {
				t.Errorf("ended %s after its deadline, at most %s is allowed", late, atMost)
			} else {
				t.Logf("ended %s after its deadline", late.Round(time.Millisecond))
			}
			right := false
			for _, s := range tc.states {
				right = right || run.State == s
			}
			if !right || run.Reason == "" {
				t.Errorf("state %s (%s), want one of %v", run.State, run.Reason, tc.states)
			}
			if (run.State == topicqueue.RunPartial) != (run.Report != "") {
				t.Errorf("state %s has report %q", run.State, run.Report)
			}
			b.wait(id) // published, with a valid stream
			if run.Report != "" {
				checkBundle(t, b.services.Store, id)
			}
		})
	}
}

// deaf is a tool that never answers the second block, even if the context ends.
type deaf struct {
	tools.Tool
	b *bench
}

func (d deaf) Call(ctx context.Context, call tools.Call) (tools.Result, error) {
	if strings.HasPrefix(call.ToolID, "block_") && len(d.b.blocksDone()) > 0 {
		<-d.b.end
	}
	return d.Tool.Call(ctx, call)
}

// dead plans a run and researches its first block. The holder of the second block never responds again.
func (b *bench) dead(id string) {
	b.t.Helper()
	b.plan(id)
	b.work(id, "block_1")
	if _, err := b.services.Queue.Begin(b.t.Context(), id, "block_2", 1); err != nil {
		b.t.Fatal(err)
	}
}

// researched plans a run and researches all of its blocks.
func (b *bench) researched(id string) {
	b.t.Helper()
	b.plan(id)
	for _, block := range []string{"block_1", "block_2", "block_3"} {
		b.work(id, block)
	}
}

func (b *bench) plan(id string) {
	b.t.Helper()
	q := b.services.Queue
	begun, err := q.Begin(b.t.Context(), id, redisqueue.UnitPlan, 1)
	if err != nil {
		b.t.Fatal(err)
	}
	plan := topicqueue.Plan{Topic: topic, Mode: topicqueue.DecomposeManual, SubTopics: []topicqueue.SubTopic{
		{Title: "Winter"}, {Title: "Noise"}, {Title: "Flow temperature"},
	}, Reviews: begun.Run.Options.MaxLoops}
	for _, step := range []string{topicqueue.StepStartQueryRewriter, topicqueue.StepEndQueryRewriterNoFeedback,
		topicqueue.StepStartSearchBackground, topicqueue.StepEndSearchBackground, topicqueue.StepStartResearchPlanner} {
		if err := q.Emit(b.t.Context(), begun.Lease, topicqueue.StepEvent(step, "")); err != nil {
			b.t.Fatal(err)
		}
	}
	if _, err := q.CommitPlan(b.t.Context(), begun.Lease, plan); err != nil {
		b.t.Fatal(err)
	}
}

// work researches a block with one claim.
func (b *bench) work(id, block string) {
	b.t.Helper()
	q := b.services.Queue
	begun, err := q.Begin(b.t.Context(), id, block, 1)
	if err != nil {
		b.t.Fatal(err)
	}
	n := begun.Block.Number()
	quote := "Night modes lower the speed of the fan and reduce the noise of a heat pump by about 5 decibels."
	source := topicqueue.Source{Kind: topicqueue.SourceDocument, Title: "Heat pumps", Document: "heat-pumps.md", Hash: topicqueue.TextHash(quote), Text: quote}
	source.ID = topicqueue.SourceID(source)
	if err := (storage.Pages{Store: b.services.Store}).PutPage(b.t.Context(), id, source.Hash, quote); err != nil {
		b.t.Fatal(err)
	}
	cite := topicqueue.BlockCitationID(n, 1)
	trace := topicqueue.ToolTrace{ToolID: block + "/1.1", CitationID: cite, ToolType: "rag_hybrid", Query: "noise " + block, BlockID: block, Iteration: 1,
		RawAnswer: "pages/" + source.Hash + ".txt", Source: source, Claims: []topicqueue.Claim{
			{ID: cite + ".1", CitationID: cite, SourceID: source.ID, Text: quote, Quote: quote, End: len(quote)},
		}}
	cp := topicqueue.Checkpoint{Iteration: 1, Traces: []topicqueue.ToolTrace{trace}}
	if _, _, err := q.Checkpoint(b.t.Context(), begun.Lease, cp, begun.View, 8); err != nil {
		b.t.Fatal(err)
	}
	if _, err := q.EndBlock(b.t.Context(), begun.Lease, topicqueue.BlockCompleted, "", nil, ""); err != nil {
		b.t.Fatal(err)
	}
}
