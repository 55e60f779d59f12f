package jobs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/jobs/digests"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// digestOf waits for a batch's digest of this generation.
func (b *bench) digestOf(batch string, generation int) digest.Digest {
	b.t.Helper()
	for deadline := time.Now().Add(scaletest.Patience); ; time.Sleep(20 * time.Millisecond) {
		end, err := b.services.Queue.Ending(b.t.Context(), batch)
		if err != nil {
			b.t.Fatal(err)
		}
		if end.Digested >= generation {
			break
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("no digest: %+v", end)
		}
	}
	body, err := b.services.Store.Get(b.t.Context(), storage.DigestKey(batch, "json"))
	if err != nil {
		b.t.Fatal(err)
	}
	var d digest.Digest
	if err := json.Unmarshal(body, &d); err != nil {
		b.t.Fatal(err)
	}
	for _, form := range []string{"md", "html"} {
		if _, err := b.services.Store.Get(b.t.Context(), storage.DigestKey(batch, form)); err != nil {
			b.t.Error(err)
		}
	}
	return d
}

func (b *bench) seal(batch string) {
	b.t.Helper()
	if err := b.services.Queue.SealBatch(b.t.Context(), batch); err != nil {
		b.t.Fatal(err)
	}
}

// TestDigestOfABatch works on three runs without a model: two have reports and one finds nothing.
func TestDigestOfABatch(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		b := setup(t, rdb, nil)
		w := b.start(jobs.Settings{})
		defer w.Stop()
		good := b.enqueue("How do heat pumps work in winter?", options(2, 1, 2), "")
		poor := b.enqueue("Zebrafish xylophone quasar", options(1, 1, 1), "")
		b.seal("night")
		d := b.digestOf("night", 2)
		if d.Runs != 2 || d.States[topicqueue.RunFailed] != 1 || len(d.First) == 0 {
			t.Fatalf("digest %+v", d)
		}
		if first := d.First[0]; first.Kind != digest.KindFailed || first.Runs[0].RunID != poor || !strings.Contains(first.Do, "nightdesk retry "+poor) {
			t.Errorf("first: %+v", first)
		}
		if d.Reports[0].RunID != good || d.Reports[0].Report != storage.ReportKey(good) {
			t.Errorf("reports %+v", d.Reports)
		}

		// A retry makes another digest.
		intents, err := b.services.Queue.Retry(t.Context(), poor, redisqueue.RetryAll, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.services.Dispatcher.Dispatch(t.Context(), intents); err != nil {
			t.Fatal(err)
		}
		if again := b.digestOf("night", 3); again.Runs != 2 {
			t.Errorf("after the retry: %+v", again)
		}
	})
}

// TestDigestShowsPlantedThings plants noteworthy facts in the metadata of ended runs.
func TestDigestShowsPlantedThings(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	b := setup(t, rdb, nil)
	ctx, q, store := t.Context(), b.services.Queue, b.services.Store
	end := func(topic string, state topicqueue.RunState, reason, metadata string) {
		t.Helper()
		id := b.enqueue(topic, options(1, 1, 1), "")
		if _, err := q.Sweep(ctx, id, false); err != nil {
			t.Fatal(err)
		}
		begun, err := q.Begin(ctx, id, redisqueue.UnitPlan, 1)
		if err != nil {
			t.Fatal(err)
		}
		out := redisqueue.Outcome{State: state, Reason: reason}
		if state == topicqueue.RunCompleted {
			out.Report = storage.ReportKey(id)
		}
		intents, err := q.Finish(ctx, begun.Lease, out)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Put(ctx, storage.MetadataKey(id), []byte(metadata)); err != nil {
			t.Fatal(err)
		}
		if begun, err = q.Begin(ctx, id, redisqueue.UnitPublish, intents[0].Generation); err != nil {
			t.Fatal(err)
		}
		if err := q.Published(ctx, begun.Lease, begun.Run, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		end(fmt.Sprintf("quiet topic %d", i), topicqueue.RunCompleted, "", `{"origins":1}`)
	}
	end("rates", topicqueue.RunCompleted, "", `{"changes":{"since":"2026-02-28","changed":[{"what":"rate","old":{"value":"2%"},"new":{"value":"3%"}}],"new":[{"statement":"a new one"}],"withdrawn":[{"statement":"gone"}]}}`)
	end("bridges", topicqueue.RunCompleted, "", `{"contradictions":[{"kind":"value","a":{"value":"7","statement":"It has 7 arches.","support":1},"b":{"value":"9","statement":"It has 9 arches.","support":1}}]}`)
	end("lost", topicqueue.RunFailed, "no evidence was found", `{}`)
	end("broken", topicqueue.RunFailed, "the time of the run was used up", `{"statements": "no number"}`)
	for i, height := range []string{"161.5", "158"} {
		id := topicqueue.RunID("night", fmt.Sprintf("quiet topic %d", i), "", time.Date(2026, 3, 1, 20, 0, 1, 0, time.UTC))
		source := fmt.Sprintf(`{"source_id":"s%d","kind":"web","url":"https://w%d.example/","sha256":"%d"}`, i, i, i)
		claim := fmt.Sprintf(`{"claim_id":"CIT-1-01.1","citation_id":"CIT-1-01","source_id":"s%d","text":"The tower of Ulm is %s metres high.","quote":"The tower of Ulm is %[2]s metres high."}`, i, height)
		for name, body := range map[string]string{"sources.jsonl": source, "claims.jsonl": "broken\n" + claim} {
			if err := store.Put(ctx, storage.CacheKey(id, name), []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.seal("night")
	w := b.start(jobs.Settings{})
	defer w.Stop()
	d := b.digestOf("night", 24)
	var got []string
	for _, item := range d.First {
		got = append(got, item.Kind+" "+item.Runs[0].Topic)
	}
	want := []string{"failed lost", "failed broken", "changed rates", "changed rates", "changed rates", "contradiction quiet topic 0", "contradiction bridges", "thin quiet topic 0"}
	if !slices.Equal(got, want) {
		t.Errorf("first are %q, want %q", got, want)
	}
}

// TestDigestWhoseTaskIsDead: a batch gets its digest even if asynq has archived the task.
func TestDigestWhoseTaskIsDead(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	b := setup(t, rdb, nil)
	client, inspector := asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb)
	if _, err := client.Enqueue(asynq.NewTask(tasks.KindDigest, nil), asynq.Queue("reporting"), asynq.TaskID("digest:night:1")); err != nil {
		t.Fatal(err)
	}
	if err := inspector.ArchiveTask("reporting", "digest:night:1"); err != nil {
		t.Fatal(err)
	}
	b.enqueue("Zebrafish xylophone quasar", options(1, 1, 1), "")
	b.seal("night")
	w := b.start(jobs.Settings{})
	defer w.Stop()
	if d := b.digestOf("night", 2); d.Runs != 1 {
		t.Errorf("digest %+v", d)
	}
}

func TestMakeDigestOfNoBatch(t *testing.T) {
	t.Parallel()
	b := setup(t, redistest.Server(t), nil)
	if _, err := digests.Make(t.Context(), b.services.Queue, b.services.Store, "nothing"); !errors.Is(err, redisqueue.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
}
