package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// asked is a model that records its questions and can be stopped by the test during a call.
type asked struct {
	llmtest.Stub
	mu        sync.Mutex
	questions map[string]int
	total     int
	hold      func(n int, q llmtest.Question) // called before the n-th answer
}

func newAsked() *asked {
	a := &asked{questions: map[string]int{}}
	a.Intercept = func(_ http.ResponseWriter, q llmtest.Question) bool {
		a.mu.Lock()
		a.total++
		n, hold := a.total, a.hold
		a.questions[q.Name+"\n"+q.System+"\n"+fmt.Sprint(q.Messages, q.User)]++
		a.mu.Unlock()
		if hold != nil {
			hold(n, q)
		}
		return false
	}
	return a
}

func (a *asked) onEach(hold func(n int, q llmtest.Question)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hold = hold
}

// repeated returns the number of repeated questions, and of all questions.
func (a *asked) repeated() (again, total int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.questions {
		again += n - 1
	}
	return again, a.total
}

// until waits for a state of the run.
func (b *bench) until(runID, what string, ok func(topicqueue.Run) bool) topicqueue.Run {
	b.t.Helper()
	for deadline := time.Now().Add(scaletest.Patience); ; time.Sleep(2 * time.Millisecond) {
		run := b.run(runID)
		if ok(run) {
			return run
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("run %s is %s (%s) and never %s", runID, run.State, run.Reason, what)
		}
	}
}

func published(r topicqueue.Run) bool { return !r.PublishedAt.IsZero() }

// seriesOptions research one block after the other, so that runs are deterministic.
func seriesOptions() topicqueue.Options {
	o := options(3, 2, 1)
	o.MaxLoops = 1
	return o
}

// dayOfHead matches the day in the head of a report, because midnight may pass between two runs.
var dayOfHead = regexp.MustCompile(`(?m)^> [0-9]{4}-[0-9]{2}-[0-9]{2} · run `)

// reportOf returns the report of a run without the parts that differ between runs of one topic.
func reportOf(t *testing.T, store storage.Store, runID string) string {
	t.Helper()
	body, err := store.Get(t.Context(), storage.ReportKey(runID))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(dayOfHead.ReplaceAllString(string(body), "> DAY · run "), runID, "RUN")
}

// undisturbed returns the report of an uninterrupted run, and the number of equal questions at different places.
func undisturbed(t *testing.T, o topicqueue.Options) (report string, again int) {
	t.Helper()
	model := newAsked()
	b := setup(t, redistest.InProcess(t), stubModel(t, &model.Stub))
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(topic, o, "")
	b.wait(id)
	again, _ = model.repeated()
	return reportOf(t, b.services.Store, id), again
}

// TestDrainRepeatsNothing stops workers during calls, as SIGTERM does. Calls in flight end and are kept, no question is
// repeated, and the report is that of an uninterrupted run.
func TestDrainRepeatsNothing(t *testing.T) {
	t.Parallel()
	want, same := undisturbed(t, seriesOptions())
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		model := newAsked()
		b := setup(t, rdb, stubModel(t, &model.Stub))
		reached := make(chan struct{})
		var stops []int
		model.onEach(func(n int, _ llmtest.Question) {
			if n%4 == 0 {
				select {
				case reached <- struct{}{}:
				default:
				}
			}
		})
		model.Latency = 2 * time.Millisecond
		id := b.enqueue(topic, seriesOptions(), "")
		for range 40 {
			w := b.start(jobs.Settings{})
			select {
			case <-reached:
			case <-time.After(100 * time.Millisecond): // the run is near its end
			}
			w.Stop()
			_, total := model.repeated()
			stops = append(stops, total)
			if b.run(id).State.Final() {
				break
			}
		}
		w := b.start(jobs.Settings{})
		b.wait(id)
		w.Stop()
		if again, total := model.repeated(); again > same || len(stops) < 4 {
			t.Errorf("%d of %d questions were asked twice; stopped after %v", again, total, stops)
		}
		if got := reportOf(t, b.services.Store, id); got != want {
			t.Errorf("the report differs from the undisturbed one:\n%s\n-- want --\n%s", got, want)
		}
	})
}

// TestLostCallsAloneAreRepeated stops workers without a grace period, so that calls in flight are lost. Only these are
// repeated.
func TestLostCallsAloneAreRepeated(t *testing.T) {
	t.Parallel()
	o := seriesOptions()
	want, same := undisturbed(t, o)
	b := setup(t, redistest.Server(t), nil)
	model := newAsked()
	b.services.Model = stubModel(t, &model.Stub)
	reached := make(chan struct{}, 1)
	var release chan struct{}
	model.onEach(func(n int, _ llmtest.Question) {
		if n%5 == 0 {
			model.mu.Lock()
			gate := release
			model.mu.Unlock()
			if gate == nil {
				return
			}
			reached <- struct{}{}
			<-gate
		}
	})
	id := b.enqueue(topic, o, "")
	lost := 0
	for range 5 {
		gate := make(chan struct{})
		model.mu.Lock()
		release = gate
		model.mu.Unlock()
		w := b.start(jobs.Settings{Grace: time.Nanosecond})
		for waiting := true; waiting && !b.run(id).State.Final(); {
			select {
			case <-reached:
				lost += 3 // MaxActions: notes are taken side by side
				waiting = false
			case <-time.After(2 * time.Millisecond):
			}
		}
		w.Stop()
		close(gate)
		if b.run(id).State.Final() {
			break
		}
	}
	model.onEach(nil)
	w := b.start(jobs.Settings{})
	b.wait(id)
	w.Stop()
	if again, total := model.repeated(); again > same+lost || lost == 0 {
		t.Errorf("%d of %d questions were asked twice, %d calls were lost at the most", again, total, lost)
	}
	if got := reportOf(t, b.services.Store, id); got != want {
		t.Errorf("the report differs from the undisturbed one:\n%s\n-- want --\n%s", got, want)
	}
}

// TestCancel cancels a run during calls that never return. It ends at once for all workers.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		report bool
		want   topicqueue.RunState
	}{"plain": {false, topicqueue.RunCancelled}, "with a report": {true, topicqueue.RunPartial}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				model := newAsked()
				b := setup(t, rdb, stubModel(t, &model.Stub))
				// The first block is researched, the next one hangs.
				end, reached := make(chan struct{}), make(chan struct{}, 100)
				t.Cleanup(func() { close(end) })
				model.onEach(func(_ int, q llmtest.Question) {
					if strings.HasPrefix(q.Name, "note") && len(b.blocksDone()) > 0 {
						reached <- struct{}{}
						<-end
					}
				})
				w := b.start(jobs.Settings{})
				id := b.enqueue(topic, options(3, 1, 1), "")
				<-reached
				intents, err := b.services.Queue.Cancel(t.Context(), id, "not needed", tc.report)
				if err == nil {
					err = b.services.Dispatcher.Dispatch(t.Context(), intents)
				}
				if err != nil {
					t.Fatal(err)
				}
				run := b.until(id, "published", published)
				w.Stop() // returns: nothing hangs any more
				if run.State != tc.want || !strings.Contains(run.Reason, "not needed") || tc.report != (run.Report != "") {
					t.Errorf("state %s (%s), report %q; want %s", run.State, run.Reason, run.Report, tc.want)
				}
				b.wait(id) // checks the stream
				if blocks, err := b.services.Queue.Blocks(t.Context(), id); err != nil || blocks[0].Status != topicqueue.BlockCompleted || blocks[0].Reason != "" {
					t.Errorf("what was found is not kept: %+v, %v", blocks, err)
				}
			})
		})
	}
}

// blocksDone returns the blocks of the only run that have ended.
func (b *bench) blocksDone() []string {
	var done []string
	_ = b.services.Queue.Runs(context.Background(), "night", func(run topicqueue.Run) error {
		blocks, err := b.services.Queue.Blocks(context.Background(), run.ID)
		for _, block := range blocks {
			if block.Status.Final() {
				done = append(done, block.ID)
			}
		}
		return err
	})
	return done
}

// TestPauseAndResume: a paused run begins no call, and calls in flight end and are kept. After resuming, it continues
// normally.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	want, same := undisturbed(t, seriesOptions())
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		model := newAsked()
		b := setup(t, rdb, stubModel(t, &model.Stub))
		seen := make(chan int, 1000)
		model.onEach(func(n int, _ llmtest.Question) { seen <- n })
		model.Latency = 5 * time.Millisecond
		w := b.start(jobs.Settings{})
		defer w.Stop()
		id := b.enqueue(topic, seriesOptions(), "")
		for _, after := range []int{3, 8, 14} {
			for n := range seen {
				if n >= after {
					break
				}
			}
			if err := b.services.Queue.Pause(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			b.until(id, "paused", func(r topicqueue.Run) bool { return r.Paused })
			b.idle()
			_, before := model.repeated()
			time.Sleep(100 * time.Millisecond) // two sweeps: nothing may come of them
			if _, now := model.repeated(); now != before {
				t.Errorf("%d calls in a paused run", now-before)
			}
			intents, err := b.services.Queue.Resume(t.Context(), id)
			if err == nil {
				err = b.services.Dispatcher.Dispatch(t.Context(), intents)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		b.wait(id)
		if again, total := model.repeated(); again > same {
			t.Errorf("%d of %d questions were asked twice", again, total)
		}
		if got := reportOf(t, b.services.Store, id); got != want {
			t.Errorf("the report differs from the undisturbed one:\n%s\n-- want --\n%s", got, want)
		}
	})
}

// idle waits until no task is active.
func (b *bench) idle() {
	b.t.Helper()
	inspector := asynq.NewInspectorFromRedisClient(b.services.Redis)
	for deadline := time.Now().Add(scaletest.Patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		active := 0
		for _, queue := range []string{"planning", "researching", "reporting"} {
			info, err := inspector.GetQueueInfo(queue)
			if err != nil && strings.Contains(err.Error(), "does not exist") { // nothing was enqueued there yet
				continue
			}
			if err != nil {
				b.t.Fatal(err)
			}
			active += info.Active
		}
		if active == 0 {
			return
		}
	}
	b.t.Fatal("tasks are active for ever")
}

// TestRetry retries a run whose blocks failed. Answers found before are not requested again.
func TestRetry(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		model := newAsked()
		b := setup(t, rdb, stubModel(t, &model.Stub))
		broken := true
		plain := model.Intercept
		model.Intercept = func(w http.ResponseWriter, q llmtest.Question) bool {
			model.mu.Lock()
			fails := broken && strings.HasPrefix(q.Name, "decide") && strings.Contains(q.User, "block_2")
			model.mu.Unlock()
			if fails && strings.Contains(q.User, `"block_2"`) || fails && len(b.blocksDone()) > 0 {
				return unauthorized(w, q)
			}
			return plain(w, q)
		}
		w := b.start(jobs.Settings{})
		defer w.Stop()
		id := b.enqueue(topic, seriesOptions(), "")
		b.wait(id)
		first := b.run(id)
		if first.State != topicqueue.RunPartial && first.State != topicqueue.RunFailed {
			t.Fatalf("state %s (%s), want partial or failed", first.State, first.Reason)
		}
		if info := archived(t, rdb); len(info) == 0 || !strings.Contains(info[0], "failed") {
			t.Errorf("archived tasks %q, want one that says why", info)
		}
		model.mu.Lock()
		broken = false
		model.questions = map[string]int{}
		model.mu.Unlock()
		intents, err := b.services.Queue.Retry(t.Context(), id, redisqueue.RetryBlocks, first.Options.MaxIterations)
		if err == nil {
			err = b.services.Dispatcher.Dispatch(t.Context(), intents)
		}
		if err != nil {
			t.Fatal(err)
		}
		b.until(id, "published again", func(r topicqueue.Run) bool { return published(r) && r.State.Final() })
		run := b.run(id)
		if run.State == topicqueue.RunFailed || run.Report == "" {
			t.Errorf("after the retry: state %s (%s)", run.State, run.Reason)
		}
		model.mu.Lock()
		defer model.mu.Unlock()
		for q := range model.questions {
			if strings.HasPrefix(q, "decompose") {
				t.Error("planning was done again")
			}
		}
		checkBundle(t, b.services.Store, id)
	})
}

func archived(t *testing.T, rdb *redis.Client) []string {
	t.Helper()
	inspector := asynq.NewInspectorFromRedisClient(rdb)
	var out []string
	for _, queue := range []string{"planning", "researching", "reporting"} {
		tasks, err := inspector.ListArchivedTasks(queue)
		if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
			t.Fatal(err)
		}
		for _, task := range tasks {
			out = append(out, task.LastErr)
		}
	}
	return out
}
