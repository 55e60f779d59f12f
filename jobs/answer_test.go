package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/jobs"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

const question = "How much does the coefficient of performance of an air source heat pump fall in winter?"

// answerOptions are the options of the preset shallow.
func answerOptions() topicqueue.Options {
	o := options(1, 1, 1)
	o.Preset, o.Path, o.MaxTurns, o.MaxToolCalls = "shallow", topicqueue.PathShallow, 10, 5
	o.Duration, o.WritingTime = 5*time.Minute, time.Minute
	return o
}

// answering is a model that searches once and then answers with what it was shown: the sentence on winter, with its
// marker.
func answering(q llmtest.Question) (string, []llmtest.Call, bool) {
	if !givenID.MatchString(q.User) {
		return "", []llmtest.Call{{Name: "rag_hybrid", Query: "coefficient of performance winter"}}, true
	}
	for part := range strings.SplitSeq(q.User, "\n[") {
		if id := givenID.FindStringSubmatch("[" + part); id != nil && strings.Contains(part, "falls from 4.0") {
			return "The coefficient of performance of an air source heat pump falls from 4.0 at 10 degrees to about 2.3 at " +
				"minus 15 degrees [" + id[1] + "]. That is a loss of 1.7 [" + id[1] + "].", nil, true
		}
	}
	return "", nil, false
}

// bundleFile reads a file of a run's bundle.
func bundleFile(t *testing.T, b *bench, runID, name string) string {
	t.Helper()
	body, err := b.services.Store.Get(t.Context(), storage.CacheKey(runID, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestAnswer: a shallow run has one conversation. Its report is the answer, cited and checked, in a valid bundle.
func TestAnswer(t *testing.T) {
	t.Parallel()
	model := newAsked()
	model.Converse, model.Answer = answering, goodAnswer
	b := setup(t, redistest.Server(t), stubModel(t, &model.Stub))
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(question, answerOptions(), "")
	b.wait(id)
	run := b.run(id)
	if run.State != topicqueue.RunCompleted {
		t.Fatalf("the run is %s: %s", run.State, run.Reason)
	}
	report := reportOf(t, b.services.Store, id)
	for _, want := range []string{"falls from 4.0 at 10 degrees", "[[CIT-1-0", "## References", "Heat pumps"} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q:\n%s", want, report)
		}
	}
	if check := b.check(id); len(check.Problems) > 0 {
		t.Errorf("the bundle does not hold: %v", check.Problems)
	}
	if _, total := model.repeated(); total > 4 {
		t.Errorf("%d model calls, 3 with the judge's are usual", total)
	}
	var verification struct {
		Counts struct{ Sentences, Supported int }
	}
	if err := json.Unmarshal([]byte(bundleFile(t, b, id, "verification.json")), &verification); err != nil {
		t.Fatal(err)
	}
	if verification.Counts.Sentences != 2 || verification.Counts.Supported < 1 {
		t.Errorf("the check says %+v\n%s", verification, report)
	}
}

// threeTurns is a model that searches twice and then answers like answering.
func threeTurns(q llmtest.Question) (string, []llmtest.Call, bool) {
	if givenID.MatchString(q.User) && !strings.Contains(q.User, "noise of outdoor units") {
		return "Looking further.", []llmtest.Call{{Name: "rag_hybrid", Query: "noise of outdoor units"},
			{Name: "rag_hybrid", Query: "flow temperature of radiators"}}, true
	}
	return answering(q)
}

// TestAnswerSurvivesEachCall stops a worker during each model call of a conversation, with and without time to finish
// the call. The next worker repeats only a lost call, and the report is the same.
func TestAnswerSurvivesEachCall(t *testing.T) {
	t.Parallel()
	plain := newAsked()
	plain.Converse, plain.Answer = threeTurns, goodAnswer
	b := setup(t, redistest.InProcess(t), stubModel(t, &plain.Stub))
	w := b.start(jobs.Settings{})
	id := b.enqueue(question, answerOptions(), "")
	b.wait(id)
	w.Stop()
	want := reportOf(t, b.services.Store, id)
	_, calls := plain.repeated()
	if calls < 4 {
		t.Fatalf("%d calls", calls)
	}
	for name, grace := range map[string]time.Duration{"drained": 10 * time.Second, "killed": time.Nanosecond} {
		for stop := 1; stop <= calls; stop++ {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				model := newAsked()
				model.Converse, model.Answer = threeTurns, goodAnswer
				b := setup(t, redistest.Server(t), stubModel(t, &model.Stub))
				reached, release := make(chan struct{}), make(chan struct{})
				model.onEach(func(n int, _ llmtest.Question) {
					if n == stop {
						close(reached)
						<-release
					}
				})
				w := b.start(jobs.Settings{Grace: grace})
				id := b.enqueue(question, answerOptions(), "")
				<-reached
				if grace > time.Second {
					time.AfterFunc(20*time.Millisecond, func() { close(release) })
				}
				w.Stop()
				if grace < time.Second {
					close(release)
				}
				model.onEach(nil)
				w = b.start(jobs.Settings{})
				b.wait(id)
				w.Stop()
				lost := 0
				if grace < time.Second {
					lost = 1
				}
				if again, total := model.repeated(); again > lost || total > calls+lost {
					t.Errorf("%d of %d questions were asked again, %d was lost", again, total, lost)
				}
				if got := reportOf(t, b.services.Store, id); got != want {
					t.Errorf("the report differs:\n%s\n-- want --\n%s", got, want)
				}
			})
		}
	}
}

// TestAnswerWithoutItsModel: whatever a model does instead of answering, the run ends with quotes of its sources and
// states the reason.
func TestAnswerWithoutItsModel(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, tc := range map[string]struct {
		stub   *llmtest.Stub // nil: no model
		state  topicqueue.RunState
		reason string
		length time.Duration // 0: as long as it takes
	}{
		"none": {state: topicqueue.RunCompleted},
		"away": {stub: &llmtest.Stub{Intercept: func(w http.ResponseWriter, _ llmtest.Question) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}}, state: topicqueue.RunPartial, reason: "answered 502", length: 20 * time.Second},
		"drips": {stub: &llmtest.Stub{Converse: answering, Answer: goodAnswer, Drip: 30 * time.Millisecond},
			state: topicqueue.RunPartial, reason: "not answered in the time", length: 20 * time.Second},
		"cites nothing": {stub: &llmtest.Stub{Converse: func(q llmtest.Question) (string, []llmtest.Call, bool) {
			return "It falls by a lot.", nil, true
		}}, state: topicqueue.RunPartial, reason: "cites none of its"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var model llm.Model
			if tc.stub != nil {
				model = stubModel(t, tc.stub)
			}
			b := setup(t, redistest.InProcess(t), model)
			w := b.start(jobs.Settings{})
			defer w.Stop()
			o := answerOptions()
			if tc.length > 0 {
				o.Duration, o.WritingTime = tc.length, tc.length/4
			}
			id := b.enqueue(question, o, "")
			b.wait(id)
			run := b.run(id)
			if run.State != tc.state || !strings.Contains(run.Reason, tc.reason) {
				t.Errorf("the run is %s: %s", run.State, run.Reason)
			}
			if report := reportOf(t, b.services.Store, id); !strings.Contains(report, "falls from 4.0 at 10 degrees") {
				t.Errorf("the report says\n%s", report)
			}
			checkBundle(t, b.services.Store, id)
		})
	}
}

// TestRoute: with the preset route, a model call chooses the path of a run, and the run keeps the reason.
func TestRoute(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"shallow": "run:answer", "deep": "block:research"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			model := newAsked()
			model.Converse = answering
			routed := 0
			model.Answer = func(q llmtest.Question) (string, bool) {
				if q.Name == "route" {
					routed++
					return `{"reason":"It asks for one figure.","path":"` + path + `"}`, true
				}
				return goodAnswer(q)
			}
			b := setup(t, redistest.Server(t), stubModel(t, &model.Stub))
			w := b.start(jobs.Settings{})
			defer w.Stop()
			o := options(2, 1, 2)
			o.Preset, o.Path, o.MaxLoops = "route", topicqueue.PathRoute, 0 // a gap that a stub invents has no source
			id := b.enqueue(question, o, "")
			b.wait(id)
			if run := b.run(id); run.State != topicqueue.RunCompleted || routed != 1 {
				t.Errorf("the run is %s: %s; %d questions", run.State, run.Reason, routed)
			}
			if plan := bundleFile(t, b, id, "step1_planning.json"); !strings.Contains(plan, "It asks for one figure.") {
				t.Errorf("the plan does not say why:\n%s", plan)
			}
			blocks, err := b.services.Queue.Blocks(t.Context(), id)
			if err != nil || len(blocks) > 1 == (path == "shallow") {
				t.Errorf("%d blocks, %v", len(blocks), err)
			}
			tasks, err := asynq.NewInspectorFromRedisClient(b.services.Redis).ListCompletedTasks("researching")
			if err != nil || len(tasks) == 0 || tasks[0].Type != want {
				t.Errorf("tasks %+v, %v; want %s", tasks, err, want)
			}
		})
	}
}

// TestAnswerMarksUncitedFigures: a figure without a citation is marked in the report, and the bundle is valid.
func TestAnswerMarksUncitedFigures(t *testing.T) {
	t.Parallel()
	model := newAsked()
	model.Answer = goodAnswer
	model.Converse = func(q llmtest.Question) (string, []llmtest.Call, bool) {
		text, calls, ok := answering(q)
		if text != "" {
			text += " A new pump costs about 17,300 euros."
		}
		return text, calls, ok
	}
	b := setup(t, redistest.InProcess(t), stubModel(t, &model.Stub))
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(question, answerOptions(), "")
	b.wait(id)
	if report := reportOf(t, b.services.Store, id); !strings.Contains(report, `17,300 euros. \[unsupported\]`) {
		t.Errorf("the report says\n%s", report)
	}
	checkBundle(t, b.services.Store, id)
}

// dies is a connection that is cut before a command that contains this text, as if its worker was killed.
type dies struct {
	at   string
	dead atomic.Bool
}

func (d *dies) DialHook(next redis.DialHook) redis.DialHook { return next }

func (d *dies) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if slices.Contains(cmd.Args(), any(d.at)) {
			d.dead.Store(true)
		}
		if d.dead.Load() {
			cmd.SetErr(errKilled)
			return errKilled
		}
		return next(ctx, cmd)
	}
}

func (d *dies) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if d.dead.Load() {
			return errKilled
		}
		return next(ctx, cmds)
	}
}

// TestAnswerStoredAndKilled: a worker killed between storing the answer and ending the block has done its work.
func TestAnswerStoredAndKilled(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	model := newAsked()
	model.Converse, model.Answer = answering, goodAnswer
	b := setup(t, rdb, stubModel(t, &model.Stub))
	timing := redisqueue.Timing{Lease: time.Second, Stuck: 200 * time.Millisecond, Gap: 5 * time.Second,
		Quiet: time.Second}
	b.services.Queue = redisqueue.New(rdb, timing)
	first := b.services
	mortal := redis.NewClient(rdb.Options())
	cut := &dies{at: string(topicqueue.BlockCompleted)} // how the block is ended
	mortal.AddHook(cut)
	t.Cleanup(func() { mortal.Close() })
	b.services.Redis, b.services.Queue = mortal, redisqueue.New(mortal, timing)
	b.services.Dispatcher = tasks.NewDispatcher(asynq.NewClientFromRedisClient(mortal),
		asynq.NewInspectorFromRedisClient(mortal))
	id := b.enqueue(question, answerOptions(), "")
	w := b.start(jobs.Settings{Grace: time.Nanosecond})
	for deadline := time.Now().Add(scaletest.Patience); !cut.dead.Load(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the block was never ended")
		}
	}
	b.services = first
	second := b.start(jobs.Settings{})
	defer second.Stop()
	b.wait(id)
	ended := make(chan struct{})
	go func() { // it is dead: the run waits for nothing of it, only its connection does
		defer close(ended)
		w.Stop()
	}()
	t.Cleanup(func() { <-ended })
	if run := b.run(id); run.State != topicqueue.RunCompleted {
		t.Errorf("the run is %s: %s", run.State, run.Reason)
	}
	if again, total := model.repeated(); again > 0 {
		t.Errorf("%d of %d questions were asked again", again, total)
	}
	if report := reportOf(t, b.services.Store, id); !strings.Contains(report, "falls from 4.0 at 10 degrees") {
		t.Errorf("the report says\n%s", report)
	}
}

// TestAnswersFromAManual asks 30 questions about the manual of this program. No conversation exceeds its limits of tool
// calls and turns, whatever the model calls, in parallel or in sequence. Every figure of a report cites a source or is
// marked.
func TestAnswersFromAManual(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	files := map[string]string{}
	var questions []string
	for _, topic := range manual.Topics() {
		files[topic.Name+".md"] = topic.Text
		for line := range strings.Lines(topic.Text) {
			if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok && len(questions) < 30 {
				questions = append(questions, fmt.Sprintf("What does the manual say about %s (%s)?", heading, topic.Title))
			}
		}
	}
	if len(questions) < 30 {
		t.Fatalf("%d questions", len(questions))
	}
	base := indexed(t, files)
	model := newAsked()
	model.Answer = goodAnswer
	model.Converse = func(q llmtest.Question) (string, []llmtest.Call, bool) {
		_, asked, _ := strings.Cut(q.User, "What does the manual say about")
		asked, _, _ = strings.Cut(asked, "?")
		at, rounds := len(asked)%4, strings.Count(q.User, ", part 0 of") // which kind of model it is
		if rounds <= at {
			var calls []llmtest.Call
			for i := range 1 + at {
				calls = append(calls, llmtest.Call{Name: "rag_hybrid", Query: fmt.Sprintf("%s, part %d of %d", asked, i, rounds)})
			}
			return "", calls, true
		}
		text := ""
		if id := givenID.FindStringSubmatch(q.User); id != nil {
			text = "The manual says so in 2026 [" + id[1] + "]. It names 12 settings. "
		}
		return text, nil, true
	}
	b := setup(t, redistest.Server(t), stubModel(t, &model.Stub))
	b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 6)}}, nil
	}
	w := b.start(jobs.Settings{})
	defer w.Stop()
	var ids []string
	for _, q := range questions {
		ids = append(ids, b.enqueue(q, answerOptions(), ""))
	}
	for i, id := range ids {
		b.wait(id)
		run := b.run(id)
		if calls := run.ToolCalls["rag_hybrid"].Asked; calls > 5 || calls == 0 {
			t.Errorf("%q: %d tool calls", questions[i], calls)
		}
		usage, err := b.services.Queue.Usage(t.Context(), id)
		if err != nil || len(usage) > 11 {
			t.Errorf("%q: %d model calls, %v", questions[i], len(usage), err)
		}
		report := reportOf(t, b.services.Store, id)
		if strings.Contains(strings.ReplaceAll(report, `12 settings. \[unsupported\]`, ""), "12 settings") {
			t.Errorf("%q: a figure is neither cited nor marked:\n%s", questions[i], report)
		}
		if run.State != topicqueue.RunCompleted {
			t.Errorf("%q is %s: %s", questions[i], run.State, run.Reason)
		}
	}
}

// TestAnswerWithinItsBudget: a conversation that cannot pay for another call ends with its findings and never exceeds
// the budget.
func TestAnswerWithinItsBudget(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string]int64{"nothing": 10, "one question": 3_000, "enough": 100_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := newAsked()
			model.Converse, model.Answer = threeTurns, goodAnswer
			b := setup(t, redistest.InProcess(t), stubModel(t, &model.Stub))
			w := b.start(jobs.Settings{})
			defer w.Stop()
			o := answerOptions()
			o.Budget = topicqueue.Budget{Tokens: tokens}
			id := b.enqueue(question, o, "")
			b.wait(id)
			run := b.run(id)
			if run.Spent > tokens {
				t.Errorf("%d tokens were spent, the budget is %d", run.Spent, tokens)
			}
			if done := run.State == topicqueue.RunCompleted; done != (name == "enough") || run.Report == "" {
				t.Errorf("the run is %s: %s", run.State, run.Reason)
			}
		})
	}
}
