package jobs_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/reporting/reportingtest"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

const topic = "How do heat pumps work in winter?"

// TestTopicToReport takes topics through the whole pipeline, with good, bad and unavailable models.
func TestTopicToReport(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		model  func(t *testing.T) llm.Model
		states []topicqueue.RunState // that are right
		calls  bool                  // the model is asked
	}{
		{"no model", func(*testing.T) llm.Model { return nil }, []topicqueue.RunState{topicqueue.RunCompleted}, false},
		{"arbitrary answers", func(t *testing.T) llm.Model { return stubModel(t, &llmtest.Stub{}) },
			[]topicqueue.RunState{topicqueue.RunCompleted, topicqueue.RunPartial, topicqueue.RunFailed}, true},
		{"response_format and tools are refused", func(t *testing.T) llm.Model {
			return stubModel(t, &llmtest.Stub{Refuse: []string{"response_format", "tools"}})
		}, []topicqueue.RunState{topicqueue.RunCompleted, topicqueue.RunPartial, topicqueue.RunFailed}, true},
		{"every second answer is broken JSON", func(t *testing.T) llm.Model { return stubModel(t, &llmtest.Stub{BreakEvery: 2}) },
			[]topicqueue.RunState{topicqueue.RunCompleted, topicqueue.RunPartial, topicqueue.RunFailed}, true},
		{"down", func(t *testing.T) llm.Model { return modelAt(t, llmtest.NewDownServer(t)) }, []topicqueue.RunState{topicqueue.RunPartial}, true},
		{"a bad key", func(t *testing.T) llm.Model {
			return stubModel(t, &llmtest.Stub{Intercept: unauthorized})
		}, []topicqueue.RunState{topicqueue.RunFailed}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				b := setup(t, rdb, tc.model(t))
				w := b.start(jobs.Settings{})
				id := b.enqueue(topic, options(3, 2, 2), "")
				b.wait(id)
				w.Stop()
				run := b.run(id)
				right := false
				for _, s := range tc.states {
					right = right || run.State == s
				}
				if !right {
					t.Errorf("state %s (%s), want one of %v", run.State, run.Reason, tc.states)
				}
				if (run.State != topicqueue.RunCompleted) != (run.Reason != "") {
					t.Errorf("state %s has reason %q", run.State, run.Reason)
				}
				if (run.State != topicqueue.RunFailed) != (run.Report != "") {
					t.Errorf("state %s has report %q", run.State, run.Report)
				}
				usage, err := b.services.Queue.Usage(t.Context(), id)
				if err != nil || tc.calls != (len(usage) > 0) {
					t.Errorf("%d calls recorded, %v", len(usage), err)
				}
				if run.Report != "" {
					checkBundle(t, b.services.Store, id)
				}
				if b.services.Model == nil {
					checkQuotes(t, b.services.Store, id)
				}
			})
		})
	}
}

// checkBundle checks that the manifest is correct and that the report cites only existing sources.
func checkBundle(t *testing.T, store storage.Store, runID string) {
	t.Helper()
	data, err := store.Get(t.Context(), storage.ManifestKey(runID))
	if err != nil {
		t.Fatal(err)
	}
	var m storage.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range m.Files {
		body, err := store.Get(t.Context(), f.Key)
		if err != nil {
			t.Error(err)
			continue
		}
		sum := sha256.Sum256(body)
		if len(body) != f.Size || hex.EncodeToString(sum[:]) != f.SHA256 {
			t.Errorf("%s is not what the manifest says", f.Key)
		}
		names[f.Key] = true
	}
	for _, name := range []string{"queue.json", "citations.json", "step1_planning.json", "outline.json", "verification.json", "token_cost_summary.json", "sources.jsonl", "claims.jsonl", "events.jsonl",
		"planning_progress.json", "researching_progress.json", "reporting_progress.json"} {
		if !names[storage.CacheKey(runID, name)] {
			t.Errorf("the bundle has no %s", name)
		}
	}
	claims, err := store.Get(t.Context(), storage.CacheKey(runID, "claims.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := store.Get(t.Context(), storage.CacheKey(runID, "sources.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	hash := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(sources)), "\n") {
		var s topicqueue.Source
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		hash[s.ID] = s.Hash
	}
	for _, line := range strings.Split(strings.TrimSpace(string(claims)), "\n") {
		var c topicqueue.Claim
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		text, err := store.Get(t.Context(), storage.PageKey(runID, hash[c.SourceID]))
		if err != nil {
			t.Errorf("claim %s: %v", c.ID, err)
			continue
		}
		if c.End > len(text) || string(text[c.Start:c.End]) != c.Quote {
			t.Errorf("claim %s does not stand at %d:%d of its source", c.ID, c.Start, c.End)
		}
	}
}

// checkQuotes checks that every sentence of an extractive report is verbatim in the source that it cites.
func checkQuotes(t *testing.T, store storage.Store, runID string) {
	t.Helper()
	get := func(key string) []byte {
		body, err := store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	var file struct {
		Citations map[string]topicqueue.ToolTrace
	}
	if err := json.Unmarshal(get(storage.CacheKey(runID, "citations.json")), &file); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range reportingtest.CheckVerbatim(string(get(storage.ReportKey(runID))), func(id string) string {
		return string(get(storage.PageKey(runID, file.Citations[id].Source.Hash)))
	}) {
		t.Error(wrong)
	}
}

// meter is a tool that counts the concurrent blocks of each run.
type meter struct {
	tools.Tool
	mu    sync.Mutex
	block map[string]map[string]int // run -> block -> calls in flight
	most  int
	pause time.Duration
}

type meterOf struct {
	*meter
	runID string
}

func (m meterOf) Call(ctx context.Context, call tools.Call) (tools.Result, error) {
	block, _, ok := strings.Cut(call.ToolID, "/")
	if !ok || !strings.HasPrefix(block, "block_") {
		return m.Tool.Call(ctx, call)
	}
	m.mu.Lock()
	blocks := m.block[m.runID]
	if blocks == nil {
		blocks = map[string]int{}
		m.block[m.runID] = blocks
	}
	blocks[block]++
	m.most = max(m.most, len(blocks))
	m.mu.Unlock()
	time.Sleep(m.pause) // so that blocks overlap; nothing waits for it
	result, err := m.Tool.Call(ctx, call)
	m.mu.Lock()
	defer m.mu.Unlock()
	if blocks[block]--; blocks[block] == 0 {
		delete(blocks, block)
	}
	return result, err
}

func TestNeverMoreBlocksInFlightThanAllowed(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const parallel = 2
		b := setup(t, rdb, stubModel(t, &llmtest.Stub{}))
		m := &meter{Tool: tools.NewRAGHybrid(b.base, 6), block: map[string]map[string]int{}, pause: 5 * time.Millisecond}
		b.services.Toolbox = func(_ context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
			return jobs.Toolbox{Tools: tools.Set{meterOf{m, run.ID}}, Sections: b.base}, nil
		}
		first, second := b.start(jobs.Settings{Concurrency: 10}), b.start(jobs.Settings{Concurrency: 10, ReportConcurrency: 2})
		var ids []string
		for _, lane := range []string{"", tasks.LaneHigh, tasks.LaneLow} {
			ids = append(ids, b.enqueue(topic+" "+lane, options(6, 2, parallel), lane))
		}
		for _, id := range ids {
			b.wait(id)
		}
		first.Stop()
		second.Stop()
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.most > parallel || m.most == 0 {
			t.Errorf("%d blocks of one run in flight, want 1 to %d", m.most, parallel)
		}
	})
}

// TestStoppedWorkerHandsOn stops a worker in the middle of a block. Another one finishes the run.
func TestStoppedWorkerHandsOn(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb, nil)
		reached := make(chan struct{})
		var once sync.Once
		hang := func(ctx context.Context, box jobs.Toolbox) jobs.Toolbox {
			return jobs.Toolbox{Tools: tools.Set{hanging{box.Tools[0], func() { once.Do(func() { close(reached) }) }}}, Sections: box.Sections}
		}
		plain := b.services.Toolbox
		b.services.Toolbox = func(ctx context.Context, run topicqueue.Run) (jobs.Toolbox, error) {
			box, err := plain(ctx, run)
			return hang(ctx, box), err
		}
		first := b.start(jobs.Settings{Grace: 10 * time.Millisecond})
		id := b.enqueue(topic, options(2, 1, 2), "")
		<-reached
		first.Stop()
		if run := b.run(id); run.State != topicqueue.RunResearching {
			t.Fatalf("after the stop the run is %s, want researching", run.State)
		}
		b.services.Toolbox = plain
		second := b.start(jobs.Settings{})
		b.wait(id)
		second.Stop()
		if run := b.run(id); run.State != topicqueue.RunCompleted {
			t.Errorf("state %s (%s), want completed", run.State, run.Reason)
		}
	})
}

// hanging is a tool whose calls for blocks return only when they are cancelled.
type hanging struct {
	tools.Tool
	reached func()
}

func (h hanging) Call(ctx context.Context, call tools.Call) (tools.Result, error) {
	if !strings.HasPrefix(call.ToolID, "block_") {
		return h.Tool.Call(ctx, call)
	}
	h.reached()
	<-ctx.Done()
	return tools.Result{}, context.Cause(ctx)
}

// fullStore is a store that rejects reports while it is full.
type fullStore struct {
	storage.Store
	full *atomic.Bool
}

var errNoSpace = errors.New("no space left on device")

func (s fullStore) Put(ctx context.Context, key string, body []byte) error {
	if s.full.Load() && strings.HasPrefix(key, "reports/") {
		return errNoSpace
	}
	return s.Store.Put(ctx, key, body)
}

// TestFullStorageKeepsTheReport: a report that cannot be stored is kept in the queue, with the reason, until it can.
func TestFullStorageKeepsTheReport(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.InProcess(t), nil)
	var full atomic.Bool
	full.Store(true)
	b.services.Store = fullStore{b.services.Store, &full}
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(topic, options(1, 1, 1), "")
	run := b.until(id, "not stored", func(r topicqueue.Run) bool { return r.Unpublished != "" || published(r) })
	if run.State != topicqueue.RunCompleted || !strings.Contains(run.Unpublished, errNoSpace.Error()) {
		t.Errorf("state %s, not published because of %q; want completed and the storage's reason", run.State, run.Unpublished)
	}
	full.Store(false)
	b.wait(id)
	checkBundle(t, b.services.Store, id)
	if run := b.run(id); run.Unpublished != "" {
		t.Errorf("published, and still said not to be: %s", run.Unpublished)
	}
}

func TestSameTopicInABatchIsOneRun(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.InProcess(t), nil)
	first := b.enqueue(topic, options(1, 1, 1), "")
	again := b.enqueue("  how do HEAT pumps work in winter", options(1, 1, 1), "")
	if first != again {
		t.Errorf("two runs %s and %s", first, again)
	}
}

func TestCheckTopic(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]string{
		"":                             "is empty",
		" \t ?! ":                      "is empty",
		strings.Repeat("x", 1_000_000): "at most 16384",
		"a topic":                      "",
	} {
		err := tasks.CheckTopic(topic)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckTopic(%.20q) = %v, want %q", topic, err, want)
		}
	}
}

// unauthorized answers like a provider that rejects the key.
func unauthorized(w http.ResponseWriter, _ llmtest.Question) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}}`))
	return true
}
