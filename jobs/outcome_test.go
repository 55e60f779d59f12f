package jobs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// shown is a task as displayed in a dashboard.
type shown struct{ Queue, Kind, Unit, Error, Result string }

// tasks returns the tasks in a state, as displayed in a dashboard.
func (b *bench) tasks(state asynq.TaskState) (out []shown) {
	b.t.Helper()
	inspector := asynq.NewInspectorFromRedisClient(b.services.Redis)
	list := map[asynq.TaskState]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		asynq.TaskStateArchived: inspector.ListArchivedTasks, asynq.TaskStateCompleted: inspector.ListCompletedTasks,
		asynq.TaskStateRetry: inspector.ListRetryTasks, asynq.TaskStatePending: inspector.ListPendingTasks,
	}[state]
	queues, err := inspector.Queues()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, queue := range queues {
		infos, err := list(queue, asynq.PageSize(100))
		if err != nil {
			b.t.Fatal(err)
		}
		for _, i := range infos {
			var p struct{ Unit string }
			if err := json.Unmarshal(i.Payload, &p); err != nil {
				b.t.Fatal(err)
			}
			out = append(out, shown{queue, i.Type, p.Unit, i.LastErr, string(i.Result)})
		}
	}
	return out
}

// eventually waits for a condition.
func (b *bench) eventually(what string, ok func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestTasksTellWhatBecameOfThem: a failed block and a failed run each leave an archived task with the reason, counted
// as failed. All other tasks that did work keep a result. Running an archived task retries the run.
func TestTasksTellWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		var broken atomic.Bool
		broken.Store(true)
		stub := &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
			return broken.Load() && strings.HasPrefix(q.Name, "note") && unauthorized(w, q)
		}}
		b := setup(t, rdb, stubModel(t, stub))
		w := b.start(jobs.Settings{})
		defer w.Stop()
		id := b.enqueue(topic, options(3, 2, 3), "")
		run := b.until(id, "published", published)
		if run.State != topicqueue.RunFailed {
			t.Fatalf("state %s (%s)", run.State, run.Reason)
		}
		b.idle()
		blocks, err := b.services.Queue.Blocks(t.Context(), id)
		if err != nil || len(blocks) < 2 {
			t.Fatalf("%d blocks, %v", len(blocks), err)
		}
		archived := b.tasks(asynq.TaskStateArchived)
		for _, s := range archived {
			reason := "answered 401"
			if s.Unit == redisqueue.UnitPublish {
				reason = run.Reason
			}
			if !strings.HasPrefix(s.Error, "failed: ") || !strings.Contains(s.Error, reason) {
				t.Errorf("archived %+v", s)
			}
		}
		if len(archived) != len(blocks)+1 {
			t.Errorf("%d archived tasks, want %d blocks and the run: %+v", len(archived), len(blocks), archived)
		}
		var results []string
		for _, s := range b.tasks(asynq.TaskStateCompleted) {
			results = append(results, s.Unit+" "+s.Result)
		}
		if len(results) != 3 || !slices.ContainsFunc(results, func(s string) bool {
			return strings.HasPrefix(s, fmt.Sprintf("plan planned: %d topic blocks, ", len(blocks))) && strings.Contains(s, " model calls, ")
		}) ||
			!slices.ContainsFunc(results, func(s string) bool { return strings.HasPrefix(s, "report failed: 0 claims, ") }) {
			t.Errorf("results %q", results)
		}
		inspector := asynq.NewInspectorFromRedisClient(rdb)
		for queue, want := range map[string]int{"planning": 0, "researching": len(blocks), "reporting": 1} {
			if info, err := inspector.GetQueueInfo(queue); err != nil || info.Failed != want || info.Retry != 0 {
				t.Errorf("%s: %d tasks have failed, want %d; %d are tried again (%v)", queue, info.Failed, want, info.Retry, err)
			}
		}

		broken.Store(false)
		if err := inspector.RunTask("reporting", "publish:"+id+":1"); err != nil {
			t.Fatal(err)
		}
		run = b.until(id, "published again", func(r topicqueue.Run) bool { return published(r) && r.State != topicqueue.RunFailed })
		if run.Report == "" {
			t.Errorf("after the retry: state %s (%s)", run.State, run.Reason)
		}
		b.idle()
		refused := func() (out []shown) { // blocks that the run has added since may have failed for other reasons
			for _, s := range b.tasks(asynq.TaskStateArchived) {
				if strings.Contains(s.Error, "answered 401") {
					out = append(out, s)
				}
			}
			return out
		}
		if left := refused(); len(left) != len(blocks) {
			t.Errorf("archived after the retry: %+v", left)
		}
		if err := inspector.RunTask("researching", "block:"+id+":block_1:1"); err != nil { // it has been tried again already
			t.Fatal(err)
		}
		b.eventually("the task of a block that has not failed is gone", func() bool { return len(refused()) == len(blocks)-1 })
	})
}

// TestArchivedBlockIsTriedAgain: running the archived task of a block retries its run once that has ended, but not
// before.
func TestArchivedBlockIsTriedAgain(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb, nil)
		ctx, q := t.Context(), b.services.Queue
		id := b.enqueue(topic, options(3, 2, 3), "")
		b.plan(id)
		begun, err := q.Begin(ctx, id, "block_2", 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.EndBlock(ctx, begun.Lease, topicqueue.BlockFailed, "nothing was found", nil, ""); err != nil {
			t.Fatal(err)
		}
		if err := q.Pause(ctx, id); err != nil {
			t.Fatal(err)
		}
		// The worker died before it reported to asynq, so its task is delivered again.
		if err := b.services.Dispatcher.Dispatch(ctx, []redisqueue.Intent{{RunID: id, Unit: "block_2", Generation: 1}}); err != nil {
			t.Fatal(err)
		}
		w := b.start(jobs.Settings{})
		defer w.Stop()
		const first = "failed: nothing was found"
		archivedAs := func(want string) func() bool {
			return func() bool {
				archived := b.tasks(asynq.TaskStateArchived)
				return len(archived) == 1 && archived[0].Error == want
			}
		}
		b.eventually("its task is archived", archivedAs(first))
		inspector := asynq.NewInspectorFromRedisClient(rdb)
		again := func() {
			t.Helper()
			if err := inspector.RunTask("researching", "block:"+id+":block_2:1"); err != nil {
				t.Fatal(err)
			}
		}
		again()
		b.eventually("its task is archived again", archivedAs(first+" (run this task again when the run has ended)"))
		intents, err := q.Resume(ctx, id)
		if err == nil {
			err = b.services.Dispatcher.Dispatch(ctx, intents)
		}
		if err != nil {
			t.Fatal(err)
		}
		b.until(id, "published", published)
		again()
		b.until(id, "tried again", func(r topicqueue.Run) bool {
			blocks, err := q.Blocks(ctx, id)
			return err == nil && blocks[1].Status == topicqueue.BlockCompleted && published(r) && len(b.tasks(asynq.TaskStateArchived)) == 0
		})

		id = b.enqueue(topic+" Again.", options(1, 1, 1), "")
		b.until(id, "published", published)
		if err := rdb.Del(ctx, rdb.Keys(ctx, "nightdesk:{"+id+"}:*").Val()...).Err(); err != nil {
			t.Fatal(err)
		}
		if err := b.services.Dispatcher.Dispatch(ctx, []redisqueue.Intent{{RunID: id, Unit: "block_2", Generation: 7}}); err != nil {
			t.Fatal(err)
		}
		b.idle()
		b.eventually("a task of a run whose state has expired is gone", func() bool { return len(b.tasks(asynq.TaskStatePending))+len(b.tasks(asynq.TaskStateArchived)) == 0 })
	})
}

// TestPayloadsSayWhatTheyAreAbout: a task contains its topic, block title and batch, cut between characters to a few
// hundred bytes.
func TestPayloadsSayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	long := strings.Repeat("東京の港はどのように\n", 100)
	b.enqueue(long, options(1, 1, 1), "")
	pending, err := asynq.NewInspectorFromRedisClient(b.services.Redis).ListPendingTasks("planning")
	if err != nil || len(pending) != 1 {
		t.Fatalf("%d tasks, %v", len(pending), err)
	}
	var p struct{ Topic, Batch, Title string }
	if err := json.Unmarshal(pending[0].Payload, &p); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(p.Topic, "東京の港はどのように 東京") || !strings.HasSuffix(p.Topic, "…") || len(p.Topic) > 160 || !utf8.ValidString(p.Topic) || p.Batch != "night" || p.Title != "" {
		t.Errorf("payload %s", pending[0].Payload)
	}
	if kept := pending[0].Retention; kept != 24*time.Hour {
		t.Errorf("it is kept for %s when it has ended", kept)
	}
}
