package redisqueue_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// reviewed takes a run with one block to its first review.
func reviewed(t *testing.T, q *redisqueue.Queue, run topicqueue.Run) redisqueue.Lease {
	t.Helper()
	planned(t, q, run, "Dykes")
	b := must[redisqueue.Begun](t)(q.Begin(t.Context(), run.ID, "block_1", 1))
	must[[]redisqueue.Intent](t)(q.EndBlock(t.Context(), b.Lease, topicqueue.BlockCompleted, "", nil, ""))
	return must[redisqueue.Begun](t)(q.Begin(t.Context(), run.ID, redisqueue.UnitReview, 1)).Lease
}

func TestReviewThatFindsNothingLeadsToTheReport(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q, run := redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("polders", 1)
		run.Options.MaxLoops = 2
		got := must[[]redisqueue.Intent](t)(q.CloseReview(t.Context(), reviewed(t, q, run), topicqueue.Review{}))
		if want := []redisqueue.Intent{task(run, "report", 1)}; !sameTasks(want, got) {
			t.Errorf("wants %v, want %v", got, want)
		}
	})
}

// TestUnreviewedPlanLeadsToTheReport: without a model for reviews, the report follows the last block.
func TestUnreviewedPlanLeadsToTheReport(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("polders", 1)
		if created, err := q.Create(ctx, run); err != nil || !created {
			t.Fatal(created, err)
		}
		fed(t, q, run)
		begun := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, 1))
		must[[]redisqueue.Intent](t)(q.CommitPlan(ctx, begun.Lease, planOf("Dykes")))
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		got := must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b.Lease, topicqueue.BlockCompleted, "", nil, ""))
		if want := []redisqueue.Intent{task(run, "report", 1)}; !sameTasks(want, got) {
			t.Errorf("wants %v, want %v", got, want)
		}
	})
}

func TestReviewCountsItsBlocksInTheProgress(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q, run := redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("polders", 1)
		run.Options.MaxLoops = 2
		must[[]redisqueue.Intent](t)(q.CloseReview(t.Context(), reviewed(t, q, run), reviewOf("Sluices")))
		events := must[[]topicqueue.Event](t)(q.Events(t.Context(), run.ID, 0, 0))
		last := string(events[len(events)-1].Content)
		if last != `{"type":"ir_progress","processed_tasks":1,"total_task":2}` {
			t.Errorf("the last event is %s", last)
		}
	})
}

// TestReviewIsKept: the last review is kept until blocks are researched again.
func TestReviewIsKept(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("polders", 1)
		run.Options.MaxLoops = 1
		lease := reviewed(t, q, run)
		want := topicqueue.Review{Blocks: []string{"block_1"}, Open: []string{"Who pays for the dykes?"}}
		must[[]redisqueue.Intent](t)(q.CloseReview(ctx, lease, want))
		kept := func() topicqueue.Review { return must[topicqueue.Review](t)(q.Review(ctx, run.ID)) }
		if diff := cmp.Diff(want, kept()); diff != "" {
			t.Error(diff)
		}
		if _, err := q.CloseReview(ctx, redisqueue.Lease{RunID: run.ID, Unit: redisqueue.UnitReview, Generation: 1}, reviewOf("Sluices")); !errors.Is(err, redisqueue.ErrFenced) {
			t.Errorf("a late reviewer: %v, want ErrFenced", err)
		}
		finish := func(generation int) {
			t.Helper()
			rep := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, generation))
			must[[]redisqueue.Intent](t)(q.Finish(ctx, rep.Lease, redisqueue.Outcome{State: topicqueue.RunPartial, Report: "r", Content: []byte("{}")}))
		}
		finish(1)
		must[[]redisqueue.Intent](t)(q.Retry(ctx, run.ID, redisqueue.RetryReport, 2))
		if !slices.Equal(kept().Blocks, []string{"block_1"}) {
			t.Error("the report that is written again does not find the review")
		}
		finish(2)
		must[[]redisqueue.Intent](t)(q.Retry(ctx, run.ID, redisqueue.RetryBlocks, 2))
		if diff := cmp.Diff(topicqueue.Review{}, kept()); diff != "" {
			t.Errorf("blocks are researched again, the review stays:\n%s", diff)
		}
	})
}

// TestReviewThatKillsItsWorkers: the run continues without its review and states that.
func TestReviewThatKillsItsWorkers(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		timing := redisqueue.DefaultTiming
		timing.Lease = time.Millisecond
		ctx, q, run := t.Context(), redisqueue.New(rdb, timing), newRun("polders", 1)
		run.Options.MaxLoops = 1
		reviewed(t, q, run)
		for generation := 2; must[topicqueue.Run](t)(q.Run(ctx, run.ID)).State == topicqueue.RunReviewing; generation++ {
			lapse(t, rdb, 5*time.Millisecond)
			if swept(t, q, run, true); generation <= redisqueue.MaxLapses {
				must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReview, generation))
			}
		}
		if got := must[topicqueue.Review](t)(q.Review(ctx, run.ID)); got.NotDone == "" {
			t.Errorf("the review is %+v", got)
		}
	})
}

func TestCancelOfARunThatWaits(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q, run := redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("canals", 1)
		if _, err := q.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		got := must[[]redisqueue.Intent](t)(q.Cancel(t.Context(), run.ID, "a person did", false))
		if want := []redisqueue.Intent{task(run, "publish", 1)}; !sameTasks(want, got) {
			t.Errorf("wants %v, want %v", got, want)
		}
	})
}

func TestAdvanceLeavesAlone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("weirs", 1)
		planned(t, q, run, "Fish ladders")
		for _, i := range []redisqueue.Intent{task(run, "plan", 1), task(topicqueue.Run{ID: "research_gone"}, "plan", 1)} {
			if got := must[[]redisqueue.Intent](t)(q.Advance(ctx, i, false)); len(got) > 0 {
				t.Errorf("of work that nobody wants: %v", got)
			}
		}
		if n := rdb.Exists(ctx, "nightdesk:{research_gone}:work").Val(); n != 0 {
			t.Error("a run that has expired has a key again, which stays for ever")
		}
	})
}

// TestCancelEndsEveryBlock: all blocks of an ended run have ended, even if its report is then written again.
func TestCancelEndsEveryBlock(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("fords", 2)
		planned(t, q, run, "Gravel", "Depth", "Current")
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		cp := topicqueue.Checkpoint{Iteration: 1, Traces: []topicqueue.ToolTrace{{CitationID: "CIT-1-01"}}}
		if _, _, err := q.Checkpoint(ctx, b.Lease, cp, b.View, 8); err != nil {
			t.Fatal(err)
		}
		must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "a person did", false))
		for i, want := range []topicqueue.BlockStatus{topicqueue.BlockCompleted, topicqueue.BlockFailed, topicqueue.BlockFailed} {
			if got := must[[]topicqueue.Block](t)(q.Blocks(ctx, run.ID))[i]; got.Status != want || got.Reason == "" {
				t.Errorf("%s is %s (%s), want %s", got.ID, got.Status, got.Reason, want)
			}
		}
		eventtest.Check(t, must[[]topicqueue.Event](t)(q.Events(ctx, run.ID, 0, 0)))
	})
}

// TestSealKeepsWhatAWaitingBlockHasFound: a retried block that waits keeps its former findings.
func TestSealKeepsWhatAWaitingBlockHasFound(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("springs", 1)
		planned(t, q, run, "Karst", "Geysers")
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b.Lease, topicqueue.BlockFailed, "no model", nil, ""))
		b = must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_2", 1))
		cp := topicqueue.Checkpoint{Iteration: 1, Traces: []topicqueue.ToolTrace{{CitationID: "CIT-2-01"}}}
		if _, _, err := q.Checkpoint(ctx, b.Lease, cp, b.View, 8); err != nil {
			t.Fatal(err)
		}
		must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "too slow", true))
		rep := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, 1))
		must[[]redisqueue.Intent](t)(q.Finish(ctx, rep.Lease, redisqueue.Outcome{State: topicqueue.RunPartial, Report: "r", Content: []byte("{}")}))
		must[[]redisqueue.Intent](t)(q.Retry(ctx, run.ID, redisqueue.RetryBlocks, 2)) // both; block_2 waits
		must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "too slow again", true))
		if got := must[[]topicqueue.Block](t)(q.Blocks(ctx, run.ID))[1]; got.Status != topicqueue.BlockCompleted {
			t.Errorf("block_2, which found something, is %s (%s)", got.Status, got.Reason)
		}
	})
}

// resent sends every script twice, like a client whose connection was interrupted before the first reply.
type resent struct{ redis.Hook }

func (resent) DialHook(next redis.DialHook) redis.DialHook { return next }

func (resent) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (resent) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); err != nil || cmd.Name() != "evalsha" && cmd.Name() != "eval" {
			return err
		}
		return next(ctx, cmd)
	}
}

func TestScriptsThatAreSentTwice(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, run := t.Context(), newRun("moors", 1)
		once := redisqueue.New(rdb, redisqueue.DefaultTiming)
		if _, err := once.Create(ctx, run); err != nil {
			t.Fatal(err)
		}
		rdb.AddHook(resent{})
		q := redisqueue.New(rdb, redisqueue.DefaultTiming)
		plan := func(generation int) redisqueue.Lease {
			t.Helper()
			return must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, generation)).Lease
		}
		if err := q.Await(ctx, plan(1), topicqueue.Question{Text: "Which?"}, 0); err != nil {
			t.Fatal(err)
		}
		must[[]redisqueue.Intent](t)(q.Answer(ctx, run.ID, 1, topicqueue.Reply{Outcome: topicqueue.ReplyAnswered,
			Text: "peat"}))
		must[[]redisqueue.Intent](t)(q.CommitPlan(ctx, plan(2), planOf()))
		report := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, 1))
		must[[]redisqueue.Intent](t)(q.Finish(ctx, report.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "x"}))
		must[[]redisqueue.Intent](t)(q.Retry(ctx, run.ID, redisqueue.RetryReport, 2))
		report = must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, 2))
		if report.Epoch != 1 {
			t.Errorf("epoch %d, want 1", report.Epoch)
		}
		must[[]redisqueue.Intent](t)(q.Finish(ctx, report.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "x"}))
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, 2))
		call := topicqueue.Usage{Role: "note", PromptTokens: 10, Timestamp: time.Now()}
		must[[]byte](t)(q.Answered(ctx, b.Lease, b.Epoch, "1/note", nil, call, 10))
		if calls := must[[]topicqueue.Usage](t)(q.Usage(ctx, run.ID)); len(calls) != 1 {
			t.Errorf("one call is counted %d times", len(calls))
		}
		if err := q.Published(ctx, b.Lease, b.Run, time.Hour); err != nil {
			t.Error(err)
		}
	})
}

// TestStreamOfARetry: the stream of an epoch has the end of every block once, including blocks that were completed
// before, and nothing after its own end.
func TestStreamOfARetry(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("tunnels", 2)
		planned(t, q, run, "Gotthard", "Ceneri")
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b.Lease, topicqueue.BlockCompleted, "", nil, ""))
		must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "a person did", false))
		pub := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, 1))
		if err := q.Emit(ctx, pub.Lease, topicqueue.StepEvent("late", "")); !errors.Is(err, redisqueue.ErrFenced) {
			t.Errorf("an event after the end: %v, want ErrFenced", err)
		}
		if err := q.Unpublished(ctx, pub.Lease, "no bucket"); err != nil {
			t.Fatal(err)
		}
		before := must[[]topicqueue.Event](t)(q.Events(ctx, run.ID, 0, 0))
		must[[]redisqueue.Intent](t)(q.Retry(ctx, run.ID, redisqueue.RetryBlocks, 2))
		if got := must[topicqueue.Run](t)(q.Run(ctx, run.ID)); got.Unpublished != "" {
			t.Errorf("a run that is worked again waits for its storage: %s", got.Unpublished)
		}
		b = must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_2", 3))
		must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b.Lease, topicqueue.BlockCompleted, "", nil, ""))
		rep := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, 2))
		if err := q.Emit(ctx, rep.Lease, topicqueue.StepEvent(topicqueue.StepStartAuthor, "")); err != nil {
			t.Fatal(err)
		}
		must[[]redisqueue.Intent](t)(q.Finish(ctx, rep.Lease, redisqueue.Outcome{State: topicqueue.RunCompleted, Report: "r", Content: []byte("{}"), Events: []topicqueue.Event{
			topicqueue.StepEvent(topicqueue.StepEndAuthor, ""), topicqueue.NewEvent("report", topicqueue.StatusReport,
				topicqueue.ReportFile{Report: "r"}),
		}}))
		events := must[[]topicqueue.Event](t)(q.AllEvents(ctx, run.ID, created))
		last := before[len(before)-1].Seq
		for i := range events {
			if events[i].Seq -= last; events[i].Seq < 1 {
				t.Errorf("event %d of the first epoch", events[i].Seq+last)
			}
		}
		eventtest.Check(t, events)
	})
}

// TestBrokenOffNarrationKeepsItsReport: however a narration is interrupted, the run keeps the outcome of its report and
// states the reason.
func TestBrokenOffNarrationKeepsItsReport(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]bool{"cancelled": false, "cancelled with its report": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("bells", 1)
				run.Options.Audio = topicqueue.AudioDual
				planned(t, q, run)
				rep := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, 1))
				must[[]redisqueue.Intent](t)(q.Finish(ctx, rep.Lease, redisqueue.Outcome{State: topicqueue.RunCompleted, Report: "r", Content: []byte("{}")}))
				nar := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitNarrate, 1))
				must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "a person did", report))
				got := must[topicqueue.Run](t)(q.Run(ctx, run.ID))
				if got.State != topicqueue.RunCompleted || got.Narration == nil || got.Narration.Problem != "a person did" {
					t.Errorf("the run is %s, %+v; want completed, and why it is not read aloud", got.State, got.Narration)
				}
				if _, err := q.Narrated(ctx, nar.Lease, topicqueue.Narration{}); !errors.Is(err, redisqueue.ErrFenced) {
					t.Errorf("the narrator: %v, want ErrFenced", err)
				}
			})
		})
	}
}
