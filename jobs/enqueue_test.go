package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

func TestNewRun(t *testing.T) {
	t.Parallel()
	batch := redisqueue.Batch{Name: "night", CreatedAt: time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)}
	id := func(topic, ref string) string {
		return tasks.NewRun(batch, topic, topicqueue.Options{}, "", topicqueue.Labels{Ref: ref, Tags: []string{"x"}}, time.Time{}).ID
	}
	if id("Fjords?", "") != id(" fjords ", "") || id("Fjords?", "a") != id("Rivers?", "a") {
		t.Error("the same topic, or the same id, makes another run")
	}
	all := []string{id("Fjords", ""), id("Fjords", "a"), id("Fjords", "A"), id("a", ""), id("id:a", ""), id("", "Fjords")}
	slices.Sort(all)
	if len(slices.Compact(all)) != len(all) {
		t.Error("different runs have the same id")
	}
}

// TestEnqueueAll enqueues many runs in two lanes, some of which exist. The list keeps their order, and each lane has
// tasks.
func TestEnqueueAll(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	created, err := b.services.Queue.OpenBatch(t.Context(), "night", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	batch := redisqueue.Batch{Name: "night", CreatedAt: created}
	var runs []topicqueue.Run
	for i := range 100 {
		lane := ""
		if i%2 == 1 {
			lane = tasks.LaneHigh
		}
		runs = append(runs, tasks.NewRun(batch, fmt.Sprint("harbour ", i), options(1, 1, 1), lane, topicqueue.Labels{Ref: fmt.Sprint(i)}, created.Add(time.Duration(i)*time.Microsecond)))
	}
	enqueue := func(runs []topicqueue.Run, want int) {
		t.Helper()
		got, err := b.services.Dispatcher.EnqueueAll(t.Context(), b.services.Queue, runs)
		added := 0
		for _, isNew := range got {
			if isNew {
				added++
			}
		}
		if err != nil || added != want {
			t.Fatalf("%d were added, want %d (%v)", added, want, err)
		}
	}
	enqueue(runs[:30], 30)
	enqueue(runs, 70)
	enqueue(runs, 0)
	i := 0
	err = b.services.Queue.Runs(t.Context(), "night", func(run topicqueue.Run) error {
		if run.ID != runs[i].ID || run.Ref != fmt.Sprint(i) {
			t.Errorf("run %d is %q", i, run.Topic)
		}
		i++
		return nil
	})
	if err != nil || i != len(runs) {
		t.Fatalf("%d runs, %v", i, err)
	}
	for _, queue := range []string{"planning", "planning-high"} {
		if tasks, err := b.services.Redis.LLen(t.Context(), "asynq:{"+queue+"}:pending").Result(); err != nil || tasks < 1 || tasks > 10 {
			t.Errorf("%d tasks in %s, %v", tasks, queue, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.services.Dispatcher.EnqueueAll(ctx, b.services.Queue, runs); err == nil {
		t.Error("a cancelled context is no error")
	}
}
