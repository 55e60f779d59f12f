package purge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/jobs/purge"
	"nightdesk/storage"
	"nightdesk/storage/storagetest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// attic is a store and a queue with runs of several days.
type attic struct {
	t     *testing.T
	rdb   *redis.Client
	queue *redisqueue.Queue
	store storage.Store

	options func(*topicqueue.Options) // of the runs that are created; nil: as they are
}

// atticDay returns 9 p.m. on a day of March 2026.
func atticDay(day int) time.Time { return time.Date(2026, 3, day, 21, 0, 0, 0, time.UTC) }

func eachStore(t *testing.T, test func(t *testing.T, a *attic)) {
	t.Helper()
	with := func(t *testing.T, s storage.Store) {
		rdb := redistest.Server(t)
		test(t, &attic{t: t, rdb: rdb, queue: redisqueue.New(rdb, redisqueue.DefaultTiming), store: s})
	}
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		with(t, storage.NewDir(t.TempDir()))
	})
	storagetest.EachS3(t, func(t *testing.T, settings storage.S3Settings) { with(t, storagetest.Empty(t, settings)) })
}

func (a *attic) put(keys ...string) {
	a.t.Helper()
	for _, key := range keys {
		if err := a.store.Put(a.t.Context(), key, []byte(key)); err != nil {
			a.t.Fatal(err)
		}
	}
}

func (a *attic) stat(key string) (storage.Stat, error) {
	list, err := a.store.ListStats(a.t.Context(), key)
	if err != nil || len(list) != 1 {
		return storage.Stat{}, fmt.Errorf("%d files are %s: %w", len(list), key, err)
	}
	return list[0].Stat, nil
}

// run creates a run with its files. state: a final one, or queued.
func (a *attic) run(batch string, day int, topic string, state topicqueue.RunState) string {
	a.t.Helper()
	ctx := a.t.Context()
	born, err := a.queue.OpenBatch(ctx, batch, atticDay(day))
	if err != nil {
		a.t.Fatal(err)
	}
	run := topicqueue.Run{ID: topicqueue.RunID(batch, topic, "", born), Batch: batch, Topic: topic, State: state, CreatedAt: born, Options: topicqueue.Options{SubTopics: 1, MaxIterations: 1, MaxParallel: 1}}
	if a.options != nil {
		a.options(&run.Options)
	}
	if _, err := a.queue.Create(ctx, run); err != nil {
		a.t.Fatal(err)
	}
	id := run.ID
	a.put(storage.ReportKey(id), storage.MetadataKey(id), storage.CacheKey(id, "queue.json"), storage.PageKey(id, "abc"))
	if !state.Final() {
		return id
	}
	intents, err := a.queue.Cancel(ctx, id, "enough", false)
	if err != nil {
		a.t.Fatal(err)
	}
	begun, err := a.queue.Begin(ctx, id, redisqueue.UnitPublish, intents[0].Generation)
	if err != nil {
		a.t.Fatal(err)
	}
	a.put(storage.ManifestKey(id))
	if err := a.queue.Published(ctx, begun.Lease, begun.Run, time.Hour); err != nil {
		a.t.Fatal(err)
	}
	return id
}

// expired removes the state of finished runs, as expiry does.
func (a *attic) expired(runs ...string) {
	a.t.Helper()
	for _, id := range runs {
		for _, key := range a.rdb.Keys(a.t.Context(), "nightdesk:{"+id+"}:*").Val() {
			a.rdb.Del(a.t.Context(), key)
		}
	}
}

// purge returns the purged items, sorted.
func (a *attic) purge(p purge.Order) []string {
	a.t.Helper()
	return slices.Sorted(slices.Values(a.told(p)))
}

// told returns the purged items in the order of their messages.
func (a *attic) told(p purge.Order) (gone []string) {
	a.t.Helper()
	p.Queue, p.Store = a.queue, a.store
	if p.Now.IsZero() {
		p.Now = atticDay(31)
	}
	err := purge.Run(a.t.Context(), p, func(x purge.Item) error {
		gone = append(gone, x.Kind+" "+x.Name)
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return gone
}

func (a *attic) keys(prefix string) []string {
	a.t.Helper()
	keys, err := a.store.List(a.t.Context(), prefix)
	if err != nil {
		a.t.Fatal(err)
	}
	return keys
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestPurge(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, a *attic) {
		old := a.run("first", 1, "old", topicqueue.RunCancelled)
		mid := a.run("second", 10, "mid", topicqueue.RunCancelled)
		fresh := a.run("third", 25, "fresh", topicqueue.RunCancelled)
		mixed := a.run("mixed", 2, "ended", topicqueue.RunCancelled)
		waits := a.run("mixed", 2, "waits", topicqueue.RunQueued)
		a.expired(old)
		a.put(storage.TopicNightKey("k", old), storage.TopicRemarks("k", old)+"1.json", storage.TopicNightKey("k", mid))
		a.put("reports/notes.md", "cache/other/x.json", "batches/first/digest.json", "batches/mixed/digest.json",
			"cache/research_20260301_000000_unknownrun/pages/x.txt", "cache/research_20260330_000000_abcdefghij/pages/x.txt")
		all := a.keys("")

		same(t, "nothing set", a.purge(purge.Order{}))
		want := []string{"bundle " + old, "report " + old, "run " + old, "batch first",
			"bundle research_20260301_000000_unknownrun"}
		same(t, "dry", a.purge(purge.Order{Dry: true, Days: 25}), want...)
		same(t, "after the dry run", a.keys(""), all...)
		same(t, "by age", a.purge(purge.Order{Days: 25}), want...)
		same(t, "of its topic", a.keys("topics/"), storage.TopicNightKey("k", mid))
		same(t, "again", a.purge(purge.Order{Days: 25}))
		same(t, "of those in use", a.keys("cache/"+waits), storage.CacheKey(waits, "queue.json"), storage.PageKey(waits, "abc"))
		if len(a.keys("cache/"+mixed)) != 3 {
			t.Errorf("a run of a batch that has not ended has %q", a.keys("cache/"+mixed))
		}

		same(t, "by count, dry", a.purge(purge.Order{Dry: true, Count: 1}), "bundle "+mid, "report "+mid, "run "+mid)
		same(t, "by count", a.purge(purge.Order{Count: 1}), "bundle "+mid, "report "+mid, "run "+mid)
		same(t, "batches", a.keys("batches/"), "batches/mixed/digest.json")
		var left []string
		batches, err := a.queue.Batches(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range batches {
			left = append(left, b.Name)
		}
		slices.Sort(left)
		same(t, "listed batches", left, "mixed", "third")
		if n := a.rdb.Exists(t.Context(), "nightdesk:batch:{first}:runs", "nightdesk:batch:{first}:lines", "nightdesk:batch:{first}:state").Val(); n != 0 {
			t.Errorf("%d keys of a purged batch are left", n)
		}
		same(t, "not ours", a.keys("reports/notes"), "reports/notes.md")
		same(t, "not ours", a.keys("cache/other"), "cache/other/x.json")
		if len(a.keys("cache/"+fresh)) != 3 {
			t.Errorf("the newest run has %q", a.keys("cache/"+fresh))
		}
	})
}

// TestPurgeOfTopics: the newest memory and the run whose pages the next night reads are kept.
func TestPurgeOfTopics(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, a *attic) {
		run := a.run("first", 1, "old", topicqueue.RunCancelled)
		for i := 1; i <= 4; i++ {
			body := fmt.Sprintf(`{"run_id":%q,"created_at":%q}`, run, atticDay(i).Format(time.RFC3339))
			if err := a.store.Put(t.Context(), fmt.Sprintf("topics/k/versions/%06d.json", i), []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		a.put("topics/x/versions/000001.json", "topics/x/versions/000002.json")
		same(t, "by count", a.purge(purge.Order{Count: 3}), "topic k 000001.json")
		same(t, "by age", a.purge(purge.Order{Days: 5}), "topic k 000002.json", "topic k 000003.json")
		same(t, "left", a.keys("topics/"), "topics/k/versions/000004.json", "topics/x/versions/000001.json", "topics/x/versions/000002.json")
	})
}

// TestPurgeTellsInOrder: a purge reports the same items in the same order as its dry run.
func TestPurgeTellsInOrder(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, a *attic) {
		var want []string
		for i := range 9 {
			body := fmt.Sprintf(`{"run_id":"x","created_at":%q}`, atticDay(i+1).Format(time.RFC3339))
			for _, version := range []string{"000001", "000002"} {
				if err := a.store.Put(t.Context(), fmt.Sprintf("topics/k%d/versions/%s.json", i, version), []byte(body)); err != nil {
					t.Fatal(err)
				}
			}
			want = append(want, fmt.Sprintf("topic k%d 000001.json", i))
		}
		for _, dry := range []bool{true, false} {
			if got := a.told(purge.Order{Dry: dry, Count: 1}); !slices.Equal(got, want) {
				t.Errorf("told, dry %t: %q, want %q", dry, got, want)
			}
		}
	})
}

// breaks is a store whose deletions fail after a number of calls.
type breaks struct {
	storage.Store
	left    int
	deleted []string
}

var errBroken = errors.New("broken off")

func (b *breaks) Delete(ctx context.Context, key string) error {
	if b.left == 0 {
		return errBroken
	}
	b.left--
	b.deleted = append(b.deleted, key)
	return b.Store.Delete(ctx, key)
}

func TestPurgeGoesOn(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	a := &attic{t: t, rdb: rdb, queue: redisqueue.New(rdb, redisqueue.DefaultTiming), store: storage.NewDir(t.TempDir())}
	runs := []string{a.run("first", 1, "a", topicqueue.RunCancelled), a.run("first", 1, "b", topicqueue.RunCancelled)}
	a.expired(runs...)
	for left := range 11 { // ten files, then all is done
		b := &breaks{Store: a.store, left: 1}
		order := purge.Order{Queue: a.queue, Store: b, Now: atticDay(31), Days: 5}
		err := purge.Run(t.Context(), order, func(purge.Item) error { return nil })
		if (left < 9) != errors.Is(err, errBroken) {
			t.Fatalf("purge %d: %v", left, err)
		}
		for _, id := range runs { // no manifest without all of its files
			whole := slices.Contains(a.keys("cache/"+id), storage.ManifestKey(id))
			if n := len(a.keys("cache/"+id)) + len(a.keys("reports/"+id)); whole && n != 5 {
				t.Errorf("purge %d, %s: a manifest and %d files in all; deleted %q", left, id, n, b.deleted)
			}
		}
	}
	if left := append(a.keys("cache/"), a.keys("reports/")...); len(left) > 0 {
		t.Errorf("left: %s", strings.Join(left, ", "))
	}
}
