package redisqueue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

var created = time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)

func newRun(topic string, parallel int) topicqueue.Run {
	return topicqueue.Run{
		ID: topicqueue.RunID("night", topic, "", created), Batch: "night", Topic: topic, CreatedAt: created,
		Options: topicqueue.Options{Preset: "medium", MaxParallel: parallel, MaxIterations: 2, QueueMaxLength: 8, Tools: []string{"rag_hybrid"}},
	}
}

func planOf(titles ...string) topicqueue.Plan {
	p := topicqueue.Plan{Topic: "t", Mode: topicqueue.DecomposeManual, Queries: []string{"background"}}
	for _, title := range titles {
		p.SubTopics = append(p.SubTopics, topicqueue.SubTopic{Title: title, Overview: "About " + title + ".", Queries: []string{title}})
	}
	p.Traces = []topicqueue.ToolTrace{{CitationID: "PLAN-01", ToolType: "rag_hybrid", Claims: []topicqueue.Claim{}}}
	return p
}

func task(run topicqueue.Run, unit string, generation int) redisqueue.Intent {
	return redisqueue.Intent{RunID: run.ID, Unit: unit, Generation: generation}
}

// sameTasks compares tasks without their descriptions, which TestAbout checks.
func sameTasks(want, got []redisqueue.Intent) bool {
	return cmp.Equal(want, got, cmpopts.IgnoreFields(redisqueue.Intent{}, "About"))
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// planned creates a run, plans it and returns the tasks of its first blocks.
func planned(t *testing.T, q *redisqueue.Queue, run topicqueue.Run, titles ...string) []redisqueue.Intent {
	t.Helper()
	ctx := t.Context()
	created, err := q.Create(ctx, run)
	if err != nil || !created {
		t.Fatalf("Create = %v, %v", created, err)
	}
	intents := fed(t, q, run)
	if want := []redisqueue.Intent{task(run, "plan", 1)}; !sameTasks(want, intents) {
		t.Fatalf("Create wants %v, want %v", intents, want)
	}
	b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, 1))
	for _, step := range []string{topicqueue.StepStartQueryRewriter, topicqueue.StepEndQueryRewriter, topicqueue.StepStartSearchBackground,
		topicqueue.StepEndSearchBackground, topicqueue.StepStartResearchPlanner} {
		if err := q.Emit(ctx, b.Lease, topicqueue.StepEvent(step, "")); err != nil {
			t.Fatal(err)
		}
	}
	plan := planOf(titles...)
	plan.Reviews = run.Options.MaxLoops
	return must[[]redisqueue.Intent](t)(q.CommitPlan(ctx, b.Lease, plan))
}

// fed feeds runs and returns the tasks of this one.
func fed(t *testing.T, q *redisqueue.Queue, run topicqueue.Run) []redisqueue.Intent {
	t.Helper()
	if runs := must[[]string](t)(q.Feed(t.Context(), run.Lane, 1000, 0)); len(runs) == 0 {
		t.Fatal("no run is waiting")
	}
	return swept(t, q, run, false)
}

func swept(t *testing.T, q *redisqueue.Queue, run topicqueue.Run, takeover bool) []redisqueue.Intent {
	t.Helper()
	return must[redisqueue.Swept](t)(q.Sweep(t.Context(), run.ID, takeover)).Intents
}

func TestLifeOfARun(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		run := newRun("solar power", 2)
		intents := planned(t, q, run, "Panels", "Inverters", "Batteries")
		if want := []redisqueue.Intent{task(run, "block_1", 1), task(run, "block_2", 1)}; !sameTasks(want, intents) {
			t.Fatalf("admitted %v, want %v", intents, want)
		}
		if again, err := q.Create(ctx, run); err != nil || again {
			t.Errorf("a second Create = %v, %v; want false", again, err)
		}

		b1 := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		if b1.Block.Title != "Panels" || len(b1.View.Blocks) != 3 || len(b1.View.Queries) != 0 || b1.Run.Options.MaxIterations != 2 {
			t.Errorf("begun with %+v", b1)
		}
		trace := topicqueue.ToolTrace{ToolID: "block_1/1.1", CitationID: "CIT-1-01", Claims: []topicqueue.Claim{{ID: "CIT-1-01.1"}}}
		res, more, err := q.Checkpoint(ctx, b1.Lease, topicqueue.Checkpoint{
			Iteration: 1, Traces: []topicqueue.ToolTrace{trace}, Queries: []string{"how do panels work"},
			Proposals: []topicqueue.SubTopic{{Title: "Grid feed-in"}, {Title: "battery"}},
		}, b1.View, 4)
		if err != nil || len(more) != 0 {
			t.Fatalf("Checkpoint wants %v, %v", more, err)
		}
		want := []topicqueue.Admission{
			{Title: "Grid feed-in", Answer: topicqueue.AdmissionAdded, BlockID: "block_4"},
			{Title: "battery", Answer: topicqueue.AdmissionDuplicate, BlockID: "block_3"},
		}
		if diff := cmp.Diff(want, res.Admissions); diff != "" {
			t.Error(diff)
		}
		if len(res.View.Blocks) != 4 || len(res.View.Queries) != 1 {
			t.Errorf("view after the checkpoint: %+v", res.View)
		}

		for n, wantNext := range map[int][]redisqueue.Intent{1: {task(run, "block_3", 1)}} {
			next := must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b1.Lease, topicqueue.BlockCompleted, "", nil, ""))
			if !sameTasks(wantNext, next) {
				t.Errorf("after block %d: %v, want %v", n, next, wantNext)
			}
		}
		for _, id := range []string{"block_2", "block_3", "block_4"} {
			b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, id, 1))
			status, reason := topicqueue.BlockCompleted, ""
			if id == "block_3" {
				status, reason = topicqueue.BlockFailed, "the model gave up"
			}
			intents = must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b.Lease, status, reason, nil, ""))
		}
		if want := []redisqueue.Intent{task(run, "report", 1)}; !sameTasks(want, intents) {
			t.Fatalf("after the last block: %v, want %v", intents, want)
		}
		rep := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, 1))
		if err := q.Emit(ctx, rep.Lease, topicqueue.StepEvent(topicqueue.StepStartAuthor, "")); err != nil {
			t.Fatal(err)
		}
		out := redisqueue.Outcome{State: topicqueue.RunPartial, Reason: "1 block failed", Report: "reports/x.md",
			Events: []topicqueue.Event{topicqueue.StepEvent(topicqueue.StepEndAuthor, ""), topicqueue.NewEvent("report", topicqueue.StatusReport, topicqueue.ReportFile{Report: "reports/x.md"})}}
		for range 2 {
			got := must[[]redisqueue.Intent](t)(q.Finish(ctx, rep.Lease, out))
			if want := []redisqueue.Intent{task(run, "publish", 1)}; !sameTasks(want, got) {
				t.Fatalf("after the report: %v, want %v", got, want)
			}
		}
		got := must[topicqueue.Run](t)(q.Run(ctx, run.ID))
		if got.State != topicqueue.RunPartial || got.Report != "reports/x.md" || got.EndedAt.IsZero() || got.Reason != "1 block failed" {
			t.Errorf("finished run: %+v", got)
		}
		if _, err := q.Begin(ctx, run.ID, redisqueue.UnitReport, 1); !errors.Is(err, redisqueue.ErrStale) {
			t.Errorf("begin of a finished run's report: %v, want ErrStale", err)
		}
		plan := must[topicqueue.Plan](t)(q.Plan(ctx, run.ID))
		if traces := must[[]topicqueue.ToolTrace](t)(q.Traces(ctx, run.ID, redisqueue.UnitPlan)); len(plan.SubTopics) != 3 || len(traces) != 1 {
			t.Errorf("plan: %+v, traces: %+v", plan, traces)
		}
		eventtest.CheckRun(t, got, must[[]topicqueue.Event](t)(q.Events(ctx, run.ID, 0, 0)))
	})
}

func TestStaleAttemptsAreRefused(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		run := newRun("tides", 1)
		planned(t, q, run, "Moon")
		first := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		if _, err := q.Begin(ctx, run.ID, "block_1", 1); !errors.Is(err, redisqueue.ErrHeld) {
			t.Errorf("begin while the lease lives: %v, want ErrHeld", err)
		}
		intents := must[[]redisqueue.Intent](t)(q.Yield(ctx, first.Lease))
		if want := []redisqueue.Intent{task(run, "block_1", 2)}; !sameTasks(want, intents) {
			t.Fatalf("Yield wants %v, want %v", intents, want)
		}
		if wanted := swept(t, q, run, false); !cmp.Equal(intents, wanted) {
			t.Errorf("Sweep = %v, want %v", wanted, intents)
		}
		second := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 2))
		for name, call := range map[string]func() error{
			"checkpoint": func() error {
				_, _, err := q.Checkpoint(ctx, first.Lease, topicqueue.Checkpoint{Iteration: 1}, first.View, 8)
				return err
			},
			"end": func() error {
				_, err := q.EndBlock(ctx, first.Lease, topicqueue.BlockCompleted, "", nil, "")
				return err
			},
			"emit":  func() error { return q.Emit(ctx, first.Lease, topicqueue.StepEvent("x", "")) },
			"yield": func() error { _, err := q.Yield(ctx, first.Lease); return err },
		} {
			if err := call(); !errors.Is(err, redisqueue.ErrFenced) {
				t.Errorf("%s by the first attempt: %v, want ErrFenced", name, err)
			}
		}
		if _, err := q.Begin(ctx, run.ID, "block_1", 1); !errors.Is(err, redisqueue.ErrStale) {
			t.Errorf("begin of the old generation: %v, want ErrStale", err)
		}
		renewed := must[redisqueue.Renewed](t)(q.Renew(ctx, run.ID, []redisqueue.Lease{first.Lease, second.Lease}))
		if lost := renewed.Lost; !cmp.Equal(lost, []string{"block_1"}) {
			t.Errorf("Renew lost %v, want the first attempt's", lost)
		}
		if _, err := q.EndBlock(ctx, second.Lease, topicqueue.BlockCompleted, "", nil, ""); err != nil {
			t.Error(err)
		}
	})
}

func TestLostRepliesChangeNothing(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		run := newRun("glaciers", 1)
		planned(t, q, run, "Ice")
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		cp := topicqueue.Checkpoint{Iteration: 1, Traces: []topicqueue.ToolTrace{{CitationID: "CIT-1-01"}}, Queries: []string{"ice"},
			Proposals: []topicqueue.SubTopic{{Title: "Snow"}}}
		first, _, err := q.Checkpoint(ctx, b.Lease, cp, b.View, 8)
		if err != nil {
			t.Fatal(err)
		}
		second, intents, err := q.Checkpoint(ctx, b.Lease, cp, b.View, 8)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("the second answer differs: %s", diff)
		}
		if want := []redisqueue.Intent{task(run, "block_1", 1)}; !sameTasks(want, intents) {
			t.Errorf("wants %v, want %v", intents, want)
		}
		if traces := must[[]topicqueue.ToolTrace](t)(q.Traces(ctx, run.ID, "block_1")); len(traces) != 1 {
			t.Errorf("%d traces, want 1", len(traces))
		}
		for range 2 {
			intents = must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b.Lease, topicqueue.BlockCompleted, "", nil, ""))
			if want := []redisqueue.Intent{task(run, "block_2", 1)}; !sameTasks(want, intents) {
				t.Errorf("wants %v, want %v", intents, want)
			}
		}
	})
}

// TestBlocksAtOnce works on many blocks with many workers. The number of blocks in flight never exceeds the limit,
// every block ends once, and the report is wanted exactly once.
func TestBlocksAtOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const parallel, maxLength, workers = 3, 12, 8
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		run := newRun("rivers", parallel)
		tasks := make(chan redisqueue.Intent, 100)
		send := func(intents []redisqueue.Intent) {
			for _, i := range intents {
				tasks <- i
			}
		}
		send(planned(t, q, run, "Rhine", "Danube", "Elbe", "Oder", "Main"))
		var mu sync.Mutex
		inFlight, most, ended, reports := 0, 0, map[string]int{}, 0
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(w)))
				for task := range tasks {
					if task.Unit == redisqueue.UnitReport {
						mu.Lock()
						reports++
						mu.Unlock()
						close(tasks)
						return
					}
					if err := workBlock(ctx, q, task, maxLength, random, func(d int) {
						mu.Lock()
						inFlight += d
						most = max(most, inFlight)
						mu.Unlock()
					}, func(intents []redisqueue.Intent) {
						mu.Lock()
						ended[task.Unit]++
						mu.Unlock()
						send(intents)
					}, send); err != nil {
						t.Error(err)
						close(tasks)
						return
					}
				}
			})
		}
		wg.Wait()
		if most > parallel || reports != 1 || len(ended) != maxLength {
			t.Errorf("%d in flight, %d reports, %d blocks; want at most %d, 1, %d", most, reports, len(ended), parallel, maxLength)
		}
		for unit, n := range ended {
			if n != 1 {
				t.Errorf("%s ended %d times", unit, n)
			}
		}
	})
}

func workBlock(ctx context.Context, q *redisqueue.Queue, task redisqueue.Intent, maxLength int, random *rand.Rand,
	flight func(int), end, send func([]redisqueue.Intent)) error {
	b, err := q.Begin(ctx, task.RunID, task.Unit, task.Generation)
	if err != nil {
		return err
	}
	flight(1)
	view := b.View
	for i := range 2 {
		res, intents, err := q.Checkpoint(ctx, b.Lease, topicqueue.Checkpoint{
			Iteration: i + 1, Proposals: []topicqueue.SubTopic{{Title: fmt.Sprintf("River number %d", random.IntN(40))}},
		}, view, maxLength)
		if err != nil {
			return err
		}
		send(intents)
		view = res.View
	}
	// Fill the queue, so that the number of blocks at the end is known.
	var more []topicqueue.SubTopic
	for n := range maxLength {
		more = append(more, topicqueue.SubTopic{Title: fmt.Sprintf("Canal number %d", n)})
	}
	_, intents, err := q.Checkpoint(ctx, b.Lease, topicqueue.Checkpoint{Iteration: 3, Proposals: more}, view, maxLength)
	if err != nil {
		return err
	}
	send(intents)
	flight(-1)
	intents, err = q.EndBlock(ctx, b.Lease, topicqueue.BlockCompleted, "", nil, "")
	if err != nil {
		return err
	}
	end(intents)
	return nil
}

func TestBatches(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		first := must[time.Time](t)(q.OpenBatch(ctx, "night", created))
		again := must[time.Time](t)(q.OpenBatch(ctx, "night", created.Add(time.Hour)))
		if !first.Equal(created) || !again.Equal(first) {
			t.Errorf("creation times %v and %v, want %v", first, again, created)
		}
		for i := range 3 {
			run := newRun(fmt.Sprintf("topic %d", i), 1)
			run.CreatedAt = created.Add(time.Duration(i) * time.Millisecond)
			if _, err := q.Create(ctx, run); err != nil {
				t.Fatal(err)
			}
		}
		var topics []string
		err := q.Runs(ctx, "night", func(r topicqueue.Run) error { topics = append(topics, r.Topic); return nil })
		if want := []string{"topic 0", "topic 1", "topic 2"}; err != nil || !cmp.Equal(want, topics) {
			t.Errorf("runs %v, %v; want %v", topics, err, want)
		}
		if _, err := q.Run(ctx, "research_x"); !errors.Is(err, redisqueue.ErrNotFound) {
			t.Errorf("unknown run: %v, want ErrNotFound", err)
		}
	})
}

// TestRunsWithBrokenOnes: a key of another type and a key with damaged values do not hide the other runs of a batch.
func TestRunsWithBrokenOnes(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		must[time.Time](t)(q.OpenBatch(ctx, "night", created))
		var ids []string
		for i := range 4 {
			run := newRun(fmt.Sprintf("topic %d", i), 1)
			run.CreatedAt = created.Add(time.Duration(i) * time.Millisecond)
			if _, err := q.Create(ctx, run); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, run.ID)
		}
		state := func(id string) string { return must[[]string](t)(rdb.Keys(ctx, "*"+id+"*:run").Result())[0] }
		if err := rdb.Set(ctx, state(ids[1]), "a text", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := rdb.HSet(ctx, state(ids[2]), "options", "no JSON").Err(); err != nil {
			t.Fatal(err)
		}
		var topics []string
		err := q.Runs(ctx, "night", func(r topicqueue.Run) error { topics = append(topics, r.Topic); return nil })
		if want := []string{"topic 0", "topic 3"}; !cmp.Equal(want, topics) {
			t.Errorf("runs %v, want %v", topics, want)
		}
		var broken *redisqueue.BrokenError
		if !errors.As(err, &broken) || !strings.Contains(err.Error(), ids[1]) || !strings.Contains(err.Error(), ids[2]) {
			t.Fatalf("%v, want the two broken runs", err)
		}
		if text := err.Error(); !strings.Contains(text, ids[1]) || !strings.Contains(text, state(ids[1])) {
			t.Errorf("the error is %q", text)
		}
	})
}
