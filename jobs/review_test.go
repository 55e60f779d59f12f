package jobs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// wanting is a model whose every review asks for another block.
func wanting(reviews *[]string) *llmtest.Stub {
	var mu sync.Mutex
	return &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
		if !strings.HasPrefix(q.Name, "review") {
			return "", false
		}
		mu.Lock()
		defer mu.Unlock()
		*reviews = append(*reviews, q.User)
		title := []string{"Noise of heat pumps", "Defrosting in winter", "Flow temperature of radiators", "Ground source heat pumps"}[len(*reviews)-1]
		return reviewAnswer(title), true
	}}
}

func reviewAnswer(titles ...string) string {
	gaps := []map[string]any{}
	for _, title := range titles {
		gaps = append(gaps, map[string]any{"title": title, "overview": "Find out.", "queries": []string{title}, "parent": "block_1", "reason": "It is open."})
	}
	text, _ := json.Marshal(map[string]any{"think": "", "draft": "", "reasoning": "Something is open.", "gaps": gaps})
	return string(text)
}

// TestReviewLoops: a run grows at most max_loops times, within its queue length, and is reviewed once more. Its stream is
// valid.
func TestReviewLoops(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name            string
		loops, room     int
		reviews, blocks int
		withoutModel    bool
	}{
		{name: "none", loops: 0, room: 5, reviews: 1, blocks: 2},
		{name: "one", loops: 1, room: 5, reviews: 2, blocks: 3},
		{name: "two", loops: 2, room: 5, reviews: 3, blocks: 4},
		{name: "the queue fills up", loops: 3, room: 1, reviews: 2, blocks: 3},
		{name: "the queue is full", loops: 2, room: 0, reviews: 1, blocks: 2},
		{name: "no model", loops: 2, room: 5, withoutModel: true, blocks: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				var reviews []string
				b := setup(t, rdb, nil)
				if !tc.withoutModel {
					b.services.Model = stubModel(t, wanting(&reviews))
				}
				w := b.start(jobs.Settings{})
				o := options(2, 1, 2)
				o.MaxLoops, o.QueueMaxLength = tc.loops, 2+tc.room
				id := b.enqueue(topic, o, "")
				events := b.wait(id)
				w.Stop()
				blocks, err := b.services.Queue.Blocks(t.Context(), id)
				if err != nil || len(blocks) != tc.blocks || len(reviews) != tc.reviews {
					t.Fatalf("%d reviews, %d blocks, %v; want %d and %d", len(reviews), len(blocks), err, tc.reviews, tc.blocks)
				}
				for i, block := range blocks {
					if added := i >= 2; added != (block.Why == "It is open.") || added != (block.Parent == "block_1") || !block.Status.Final() {
						t.Errorf("%s: %+v", block.ID, block)
					}
				}
				total := 0
				for _, e := range events {
					var p topicqueue.Progress
					if e.Status == topicqueue.StatusProgress && json.Unmarshal(e.Content, &p) == nil {
						total = p.TotalTask
					}
				}
				if total != tc.blocks {
					t.Errorf("the progress counts to %d of %d blocks", total, tc.blocks)
				}
				if got := b.metadata(id).Fallbacks.Reviewing; len(got) > 0 {
					t.Errorf("metadata says that the review was not done: %q", got)
				}
				usage, err := b.services.Queue.Usage(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(slices.DeleteFunc(usage, func(u topicqueue.Usage) bool { return u.Stage != "reviewing" || u.Role != "planner" })); n != tc.reviews {
					t.Errorf("%d calls of reviews are recorded, want %d", n, tc.reviews)
				}
			})
		})
	}
}

// metadataFile is the part of a run's metadata that these tests read.
type metadataFile struct {
	State      topicqueue.RunState
	Statistics struct {
		GapBlocks int `json:"gap_blocks"`
	}
	Fallbacks    struct{ Reviewing []string }
	MissingTexts []string `json:"missing_texts"`
}

func (b *bench) metadata(runID string) (m metadataFile) {
	b.t.Helper()
	body, err := b.services.Store.Get(b.t.Context(), storage.MetadataKey(runID))
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// TestReviewThatCannotBeDone: if the review fails, the run continues to its report and states that.
func TestReviewThatCannotBeDone(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter, llmtest.Question) bool{
		"refused":          unauthorized,
		"no usable answer": func(http.ResponseWriter, llmtest.Question) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCallLog(2)
			sensible := m.stub.Answer
			m.stub.Answer = func(q llmtest.Question) (string, bool) {
				if strings.HasPrefix(q.Name, "review") {
					return "I would say that all is well.", true
				}
				return sensible(q)
			}
			m.stub.Intercept = func(w http.ResponseWriter, q llmtest.Question) bool {
				return strings.HasPrefix(q.Name, "review") && answer(w, q)
			}
			b := setup(t, redistest.Server(t), modelAt(t, llmtest.NewServer(t, m)))
			b.services.Toolbox = yearbooks
			w := b.start(jobs.Settings{MaxActions: 1})
			defer w.Stop()
			o := options(2, 1, 2)
			o.MaxLoops = 1
			id := b.enqueue("How are the harbours of the coast kept, and what does it cost?", o, "")
			b.wait(id)
			meta := b.metadata(id)
			if meta.State != topicqueue.RunCompleted || len(meta.Fallbacks.Reviewing) != 1 {
				t.Errorf("%+v (%s)", meta, b.run(id).Reason)
			}
			if report := reportOf(t, b.services.Store, id); !strings.Contains(report, "not checked") {
				t.Errorf("the report does not say it:\n%s", report)
			}
		})
	}
}

// TestReviewThatHangs: a hanging review ends while there is time for a block, and the report is written on time. The
// run is not cut short.
func TestReviewThatHangs(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	m, end := newCallLog(2), make(chan struct{})
	m.stub.Latency = 500 * time.Millisecond // a block takes a second
	sensible := m.stub.Answer
	m.stub.Answer = func(q llmtest.Question) (string, bool) {
		if strings.HasPrefix(q.Name, "review") {
			<-end
		}
		return sensible(q)
	}
	b := setup(t, redistest.Server(t), modelAt(t, llmtest.NewServer(t, m)))
	b.services.Toolbox = yearbooks
	w := b.start(jobs.Settings{MaxActions: 1})
	t.Cleanup(func() {
		close(end)
		w.Stop()
	})
	o := options(2, 1, 2)
	o.MaxLoops, o.Duration, o.WritingTime = 1, time.Minute, 20*time.Second // a busy machine has to plan and to research first
	id := b.enqueue("How are the harbours of the coast kept, and what does it cost?", o, "")
	b.wait(id)
	run, meta := b.run(id), b.metadata(id)
	if run.State != topicqueue.RunCompleted || len(meta.Fallbacks.Reviewing) != 1 {
		t.Errorf("state %s (%s), %+v", run.State, run.Reason, meta)
	}
}

// TestReviewOfADeadWorker: if the worker of a review dies, another worker takes over the review or its result, and the
// blocks are added once.
func TestReviewOfADeadWorker(t *testing.T) {
	t.Parallel()
	const gap = "Defrosting of the outdoor unit"
	for name, closed := range map[string]bool{"before it has closed it": false, "before the tasks of its blocks": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reviews atomic.Int32
			model := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
				if !strings.HasPrefix(q.Name, "review") {
					return "", false
				}
				reviews.Add(1)
				return reviewAnswer(gap), true
			}}
			rdb := redistest.Server(t)
			b := setup(t, rdb, stubModel(t, model))
			timing := redisqueue.DefaultTiming
			timing.Lease, timing.Quiet = 500*time.Millisecond, 0
			b.services.Queue = redisqueue.New(rdb, timing)
			o := options(3, 1, 3)
			o.MaxLoops = 1
			id := b.enqueue(topic, o, "")
			b.researched(id)
			dead, err := b.services.Queue.Begin(t.Context(), id, redisqueue.UnitReview, 1)
			if err != nil {
				t.Fatal(err)
			}
			review := topicqueue.Review{Gaps: []topicqueue.SubTopic{{Title: gap, Why: "It is open."}}}
			if closed {
				if _, err := b.services.Queue.CloseReview(t.Context(), dead.Lease, review); err != nil { // its intents are lost
					t.Fatal(err)
				}
			}
			w := b.start(jobs.Settings{})
			if !closed {
				b.until(id, "out of its review", func(r topicqueue.Run) bool { return r.State != topicqueue.RunReviewing })
				if _, err := b.services.Queue.CloseReview(t.Context(), dead.Lease, review); !errors.Is(err, redisqueue.ErrFenced) {
					t.Errorf("the dead worker comes back: %v, want ErrFenced", err)
				}
			}
			b.wait(id)
			w.Stop()
			blocks, err := b.services.Queue.Blocks(t.Context(), id)
			if err != nil || len(blocks) != 4 || blocks[3].Title != gap {
				t.Fatalf("%+v, %v; want three blocks and the gap", blocks, err)
			}
			if n := reviews.Load(); (n == 0) != closed || n > 1 {
				t.Errorf("asked %d times", n)
			}
			if run := b.run(id); run.Report == "" {
				t.Errorf("state %s (%s)", run.State, run.Reason)
			}
		})
	}
}

// TestReviewsTask: the task of a review is in the queue of reports, with an id specific to its loop.
func TestReviewsTask(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	b := setup(t, rdb, nil)
	o := options(3, 1, 3)
	o.MaxLoops = 2
	id := b.enqueue(topic, o, "")
	b.researched(id)
	inspector := asynq.NewInspectorFromRedisClient(rdb)
	for loop := 1; loop <= 2; loop++ {
		swept, err := b.services.Queue.Sweep(t.Context(), id, false)
		if err == nil {
			err = b.services.Dispatcher.Dispatch(t.Context(), swept.Intents)
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := inspector.GetTaskInfo("reporting", fmt.Sprintf("review:%s:%d", id, loop))
		if err != nil || info.Type != tasks.KindReview {
			t.Fatalf("loop %d: %+v, %v", loop, info, err)
		}
		begun, err := b.services.Queue.Begin(t.Context(), id, redisqueue.UnitReview, loop)
		if err != nil {
			t.Fatal(err)
		}
		review := topicqueue.Review{Gaps: []topicqueue.SubTopic{{Title: fmt.Sprint("Gap of loop ", loop)}}}
		if _, err := b.services.Queue.CloseReview(t.Context(), begun.Lease, review); err != nil {
			t.Fatal(err)
		}
		b.work(id, topicqueue.BlockID(3+loop))
	}
	if run := b.run(id); run.State != topicqueue.RunReporting {
		t.Errorf("after the last loop the run is %s", run.State)
	}
}

// TestOpenWithoutReview: if the review gives no usable answer, the writer of the conclusion gets what each block called
// missing.
func TestOpenWithoutReview(t *testing.T) {
	t.Parallel()
	const missing = "How long a defrost cycle takes is missing."
	var mu sync.Mutex
	asked := ""
	stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
		switch {
		case strings.HasPrefix(q.Name, "review"):
			return "no JSON", true
		case strings.HasPrefix(q.Name, "decide"):
			return `{"think": "", "reasoning": "` + missing +
				`", "is_sufficient": false, "actions": [], "new_sub_topics": []}`, true
		case strings.Contains(q.User, "Parts to write:"):
			mu.Lock()
			defer mu.Unlock()
			asked = q.User
		}
		return goodAnswer(q)
	}}
	b := setup(t, redistest.Server(t), stubModel(t, stub))
	w := b.start(jobs.Settings{})
	defer w.Stop()
	o := options(2, 2, 2)
	o.MaxLoops, o.QueueMaxLength = 1, 4
	b.wait(b.enqueue(topic, o, ""))
	mu.Lock()
	defer mu.Unlock()
	if _, open, _ := strings.Cut(asked, "What stayed open"); !strings.Contains(open, missing) {
		t.Errorf("%s", asked)
	}
}
