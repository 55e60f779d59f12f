package jobs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"nightdesk/jobs"
	"nightdesk/jobs/bundle"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/scaletest"
)

func TestMain(m *testing.M) {
	if scaletest.Race {
		debug.SetGCPercent(300) // else the collector takes a sixth of the processor's time
	}
	goleak.VerifyTestMain(m,
		// The SQLite driver and database/sql keep these for the life of the process.
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// bench holds the services of one test: Redis, storage, knowledge base and model.
type bench struct {
	t        testing.TB
	services jobs.Services
	base     *knowledge.Base
	seq      int
	end      chan struct{} // closed by a test that lets calls hang, at its end
}

// documents is a small corpus about its topics.
var documents = map[string]string{
	"heat-pumps.md": `# Heat pumps

## How a heat pump works

A heat pump moves heat from the cold outside air into the house with a refrigerant that evaporates and condenses.
The compressor needs about one kilowatt hour of electricity for three to four kilowatt hours of heat.
The ratio of heat to electricity is called the coefficient of performance.

## Heat pumps in winter

The coefficient of performance of an air source heat pump falls from 4.0 at 10 degrees to about 2.3 at minus 15 degrees.
Ice on the outdoor unit is melted by a defrost cycle that reverses the flow of the refrigerant for a few minutes.
Ground source heat pumps keep their performance in winter because the ground stays near 10 degrees all year.

## Noise

Outdoor units of heat pumps produce between 40 and 60 decibels at a distance of one metre.
Night modes lower the speed of the fan and reduce the noise of a heat pump by about 5 decibels.
`,
	"radiators.md": `# Radiators and flow temperature

## Flow temperature

Heat pumps work best with a flow temperature below 45 degrees in the heating circuit.
Old radiators often need a flow temperature of 60 degrees, which lowers the efficiency of a heat pump by a third.
Larger radiators or floor heating let a heat pump heat an old house efficiently in winter.
`,
}

func setup(t testing.TB, rdb *redis.Client, model llm.Model) *bench {
	t.Helper()
	base := indexed(t, documents)
	b := &bench{t: t, base: base}
	b.services = jobs.Services{
		Redis: rdb, Queue: redisqueue.New(rdb, redisqueue.DefaultTiming), Dispatcher: tasks.NewDispatcher(asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb)),
		Store: storage.NewDir(t.TempDir()), Model: model, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel), Now: time.Now,
		Toolbox: func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
			return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(base, 6)}, Sections: base}, nil
		},
	}
	return b
}

// indexes has, for each set of files that was indexed, a function that returns the knowledge base as bytes.
var indexes sync.Map

// indexed returns a knowledge base of files with these texts. Each set of files is indexed once; every test gets a copy.
func indexed(t testing.TB, files map[string]string) *knowledge.Base {
	t.Helper()
	made, _ := indexes.LoadOrStore(fmt.Sprint(files), sync.OnceValues(func() ([]byte, error) { return index(files) }))
	body, err := made.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kb.sqlite")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	base, err := knowledge.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close() })
	return base
}

// index returns a knowledge base of files with these texts as bytes.
func index(files map[string]string) (body []byte, err error) {
	dir, err := os.MkdirTemp("", "index")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	texts, path := filepath.Join(dir, "texts"), filepath.Join(dir, "kb.sqlite")
	if err := os.Mkdir(texts, 0o700); err != nil {
		return nil, err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(texts, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	base, err := knowledge.Create(path)
	if err != nil {
		return nil, err
	}
	_, err = base.Ingest(context.Background(), []string{texts}, nil)
	if err = errors.Join(err, base.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// stubModel returns a client for a stub server.
func stubModel(t testing.TB, stub *llmtest.Stub) llm.Model {
	t.Helper()
	return modelAt(t, llmtest.NewServer(t, stub))
}

func modelAt(t testing.TB, url string) llm.Model {
	t.Helper()
	return governedModel(t, url, nil, 2)
}

func governedModel(t testing.TB, url string, governor llm.Governor, tries int) llm.Model {
	t.Helper()
	roles := map[llm.Role]llm.RoleSettings{}
	for _, role := range []llm.Role{llm.Planner, llm.Researcher, llm.Note, llm.Writer, llm.Judge} {
		roles[role] = llm.RoleSettings{Model: "stub", BaseURL: url, APIKey: "key", MaxTokens: 1000, ContextTokens: 32_000, Timeout: time.Minute, MaxTries: tries}
	}
	note := roles[llm.Note] // whose answers are the longest that are bounded
	note.MaxTokens = 500
	roles[llm.Note] = note
	client, err := llm.NewClient(llm.Settings{Roles: roles, Governor: governor})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func options(subTopics, iterations, parallel int) topicqueue.Options {
	return topicqueue.Options{
		Preset: "test", Language: "en", KnowledgeBase: "kb", DecomposeMode: topicqueue.DecomposeManual, SubTopics: subTopics,
		MaxParallel: parallel, MaxIterations: iterations, IterationMode: topicqueue.IterationFixed, QueueMaxLength: subTopics + 2,
		NewTopicMinScore: 0.85, Tools: []string{"rag_hybrid"}, CitationStyle: topicqueue.CitationAnchors,
	}
}

func (b *bench) start(settings jobs.Settings) *jobs.Worker {
	b.t.Helper()
	if settings.Concurrency == 0 {
		settings.Concurrency = 8
	}
	settings.Lanes = []string{tasks.LaneHigh, "", tasks.LaneLow}
	settings.PollInterval, settings.SweepInterval = 5*time.Millisecond, 50*time.Millisecond
	settings.RetryPause = cmp.Or(settings.RetryPause, 5*time.Millisecond)
	if settings.Grace == 0 {
		settings.Grace = 10 * time.Second
	}
	w := jobs.NewWorker(b.services, settings)
	if err := w.Start(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return w
}

// next returns a word that no earlier topic of the bench contains.
func (b *bench) next() string { return fmt.Sprint("number ", b.seq) }

func (b *bench) enqueue(topic string, o topicqueue.Options, lane string) string {
	b.t.Helper()
	b.seq++
	now := time.Date(2026, 3, 1, 20, 0, b.seq, 0, time.UTC)
	created, err := b.services.Queue.OpenBatch(b.t.Context(), "night", now)
	if err != nil {
		b.t.Fatal(err)
	}
	run, err := b.services.Dispatcher.Enqueue(b.t.Context(), b.services.Queue, redisqueue.Batch{Name: "night", CreatedAt: created}, topic, o, lane, now)
	if err != nil {
		b.t.Fatal(err)
	}
	return run.ID
}

// wait waits for the end of a run's stream and returns the events.
func (b *bench) wait(runID string) []topicqueue.Event {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), scaletest.Patience)
	defer cancel()
	var events []topicqueue.Event
	stream := eventtest.New()
	for {
		more, err := b.services.Queue.Events(ctx, runID, int64(len(events)), 20*time.Millisecond)
		if err != nil {
			b.t.Fatalf("run %s after %d events: %v", runID, len(events), err)
		}
		for _, e := range more {
			if faults := stream.Next(e); len(faults) > 0 {
				b.t.Fatalf("%s\n%s", strings.Join(faults, "\n"), eventtest.Lines(append(events, more...)))
			}
		}
		events = append(events, more...)
		if n := len(events); n > 0 && events[n-1].Status == topicqueue.StatusComplete && !b.run(runID).PublishedAt.IsZero() {
			eventtest.CheckRun(b.t, b.run(runID), events)
			return events
		}
		if ctx.Err() != nil {
			b.t.Fatalf("run %s has not ended; last events: %s", runID, tail(events))
		}
	}
}

func tail(events []topicqueue.Event) string {
	out := ""
	for _, e := range events[max(0, len(events)-5):] {
		out += fmt.Sprintf("\n%d %s %s %s", e.Seq, e.BlockID, e.Status, e.Content)
	}
	return out
}

func (b *bench) run(runID string) topicqueue.Run {
	b.t.Helper()
	run, err := b.services.Queue.Run(b.t.Context(), runID)
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

// check verifies the bundle of a run.
func (b *bench) check(runID string) bundle.Check {
	b.t.Helper()
	check, err := bundle.Verify(b.t.Context(), b.services.Store, runID)
	if err != nil {
		b.t.Fatal(err)
	}
	return check
}
