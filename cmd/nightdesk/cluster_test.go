package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// startCluster starts three masters, of which the last may throw keys away.
func startCluster(t *testing.T) (nodes []*redistest.Process, clients []*redis.Client) {
	t.Helper()
	ctx := t.Context()
	for i := range 3 {
		p := redistest.Start(t, "--port", "PORT", "--save", "", "--appendonly", "no", "--cluster-enabled", "yes", "--cluster-node-timeout", "5000",
			"--maxmemory-policy", []string{"noeviction", "noeviction", "allkeys-lru"}[i])
		c := redis.NewClient(&redis.Options{Addr: p.Addr()})
		t.Cleanup(func() { c.Close() })
		const slots = 16384
		if err := c.Do(ctx, "CLUSTER", "ADDSLOTSRANGE", i*slots/3, (i+1)*slots/3-1).Err(); err != nil {
			t.Fatal(err)
		}
		nodes, clients = append(nodes, p), append(clients, c)
		if i > 0 {
			if err := c.ClusterMeet(ctx, "127.0.0.1", nodes[0].Port).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range clients {
		until(t, "a whole cluster", func() bool {
			info, _ := c.ClusterInfo(ctx).Result()
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return nodes, clients
}

// TestRedisCluster works on three masters: no script, transaction or pipeline may need two of them.
func TestRedisCluster(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	nodes, clients := startCluster(t)
	ctx := t.Context()
	f := newDeskAt(t, "redis-cluster://"+nodes[0].Addr()+","+nodes[1].Addr())
	out := f.fails(1, "doctor", "--json")
	policy := strings.Count(out, "allkeys-lru at "+nodes[2].Addr())
	if policy != 1 || strings.Count(out, `"check":"redis","result":"failed"`) != 1 || strings.Count(out, "appendonly is off") != 3 {
		t.Errorf("doctor:\n%s", out)
	}
	f.works(6)
	if body := f.serve().get("metrics", 200); !strings.Contains(body, `nightdesk_queue_tasks{lane="normal",stage="planning",state="pending"} 0`) {
		t.Errorf("metrics:\n%s", body)
	}
	if body := f.serve().get("monitoring/api/redis_info", 200); !strings.Contains(body, `"cluster":true`) || !strings.Contains(body, `"queue":"researching"`) {
		t.Errorf("asynqmon does not show the cluster:\n%s", body)
	}
	f.output("enqueue", "topics.txt", "--batch", "more", "--kb", "docs", "--priority", "low")
	f.output("schedule", "add", "nightly", "--cron", "0 1 * * *", "--topics", "topics.txt", "--kb", "docs")
	for _, args := range [][]string{{"schedule", "fire", "nightly"}, {"schedule", "list"}, {"list"}, {"status", "more"}, {"pause", "more"}, {"resume", "more"}, {"cancel", "more"}} {
		f.output(args...)
	}
	for _, c := range clients {
		if n, err := c.DBSize(ctx).Result(); n == 0 || err != nil {
			t.Errorf("a master holds %d keys, %v: the test shows nothing", n, err)
		}
	}
	checkSlots(t, clients)
}

// TestClusterFailover kills a master that has a replica in the middle of a batch: the desk goes on with the replica.
func TestClusterFailover(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	nodes, clients := startCluster(t)
	replica := redistest.Start(t, "--port", "PORT", "--save", "", "--appendonly", "no", "--cluster-enabled", "yes", "--cluster-node-timeout", "5000", "--repl-diskless-sync-delay", "0")
	c := redis.NewClient(&redis.Options{Addr: replica.Addr()})
	t.Cleanup(func() { c.Close() })
	ctx := t.Context()
	index := slices.IndexFunc(clients, func(m *redis.Client) bool { return hasSlot(t, m, "index") })
	id, err := clients[index].ClusterMyID(ctx).Result()
	if err == nil {
		err = c.ClusterMeet(ctx, "127.0.0.1", nodes[index].Port).Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	until(t, "a replica", func() bool { return c.ClusterReplicate(ctx, id).Err() == nil })
	for _, m := range append(clients, c) {
		if err := m.ConfigSet(ctx, "cluster-node-timeout", "1000").Err(); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "a replica in step", func() bool {
		info, _ := c.Info(ctx, "replication").Result()
		known, _ := clients[(index+1)%3].ClusterInfo(ctx).Result()
		return strings.Contains(info, "master_link_status:up") && strings.Contains(known, "cluster_known_nodes:4")
	})

	const topics = 8
	f := newDeskAt(t, "redis-cluster://"+nodes[(index+1)%3].Addr()+","+nodes[(index+2)%3].Addr())
	f.enqueueParts(topics, "--preset", "medium")
	w := f.worker(2)
	until(t, "one report", func() bool {
		reports, _ := filepath.Glob(filepath.Join(f.dir, "nightdesk-data", "reports", "*.md"))
		return len(reports) > 0
	})
	nodes[index].End(syscall.SIGKILL)
	killed := time.Now()
	until(t, "the failover", func() bool { return hasSlot(t, c, "index") })
	t.Logf("failover after %s", time.Since(killed).Round(10*time.Millisecond))
	f.checkReports(topics, f.wait(topics))
	t.Logf("all reports %s after the kill", time.Since(killed).Round(10*time.Millisecond))
	f.stop(w)
}

// hasSlot reports whether a node has the slot of a key and takes writes to it.
func hasSlot(t *testing.T, c *redis.Client, tag string) bool {
	t.Helper()
	key := "test:{" + tag + "}"
	return c.Set(t.Context(), key, "", time.Millisecond).Err() == nil
}

// TestNightsOnCluster has a schedule fire twice on three masters, with budgets, sharing, memories, digests, webhooks
// and purging: each is scripts on keys that must lie in one slot.
func TestNightsOnCluster(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	nodes, clients := startCluster(t)
	if err := clients[2].ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	told := map[string]int{}
	hooks := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Type string }
		_ = json.NewDecoder(r.Body).Decode(&e) // none, then
		mu.Lock()
		defer mu.Unlock()
		told[e.Type]++
	}))
	t.Cleanup(hooks.Close)
	hasTold := func(event string, n int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return told[event] >= n
		}
	}
	const topics = 4
	f := newFleet(t, time.Millisecond, "REDIS_URL=redis-cluster://"+nodes[0].Addr()+","+nodes[1].Addr(), "NIGHTDESK_LIMITS_NIGHT_BUDGET=100M tokens",
		"NIGHTDESK_WEBHOOK_URL="+hooks.URL, "NIGHTDESK_WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "NIGHTDESK_RETENTION_COUNT=1", "NIGHTDESK_LOG_LEVEL=warn")
	f.model.Parts = 2
	scheduler := f.command("scheduler")
	if err := scheduler.Start(); err != nil {
		t.Fatal(err)
	}
	w := f.worker(8)

	f.enqueue(topics, "--preset", "quick", "--batch-budget", "400k tokens", "--priority", "high", "--incremental")
	f.checkReports(topics, f.wait(topics))
	until(t, "a batch that has ended", hasTold("batch.ended", 1))
	if out := f.output("status", "fleet", "--json"); !strings.Contains(out, `"tokens": 400000`) {
		t.Errorf("the batch has no budget:\n%s", out)
	}
	f.output("schedule", "add", "nightly", "--cron", "0 1 * * *", "--topics", "topics.txt", "--kb", "docs", "--preset", "quick", "--incremental", "--budget", "300k tokens", "--overlap", "queue")
	for night := range 2 {
		f.output("schedule", "fire", "nightly")
		until(t, "a night that has ended", hasTold("batch.ended", 2+night))
		until(t, "a night that the schedule knows the end of", func() bool {
			return strings.Count(f.output("schedule", "show", "nightly", "--json"), `"state": "ended"`) > night
		})
	}
	until(t, "runs that have ended", hasTold("run.ended", 3*topics))
	var batches []string
	for line := range strings.Lines(f.output("list", "--json")) {
		var run struct{ Batch, State, Report string }
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatal(err)
		}
		if run.State != "completed" || run.Report == "" {
			t.Errorf("a run of %s is %s", run.Batch, run.State)
		}
		if !slices.Contains(batches, run.Batch) {
			batches = append(batches, run.Batch)
		}
	}
	for _, batch := range batches {
		if out := f.output("digest", batch, "--json"); !strings.Contains(out, fmt.Sprintf(`"completed": %d`, topics)) {
			t.Errorf("digest of %s:\n%s", batch, out)
		}
	}
	f.output("retry", "fleet", "--all")
	f.checkReports(3*topics, map[string]int{"completed": 2*topics + f.wait(topics)["completed"]})
	until(t, "another digest", hasTold("batch.ended", 4))
	f.stop(w)
	f.stop(scheduler)
	f.output("purge", "--yes")
	if out := f.output("list", "--json"); strings.Count(out, `"run_id"`) >= 3*topics {
		t.Errorf("nothing was purged:\n%s", out)
	}
	f.output("schedule", "remove", "nightly")
	checkSlots(t, clients)
	if reports, err := filepath.Glob(filepath.Join(f.dir, "nightdesk-data", "reports", "*.md")); err != nil || len(reports) > topics {
		t.Errorf("%d reports are left, %v", len(reports), err)
	}
	t.Logf("told: %v", told)
}

// checkSlots checks that no command was refused, as those are that need two slots, but for what a client tries to
// find out with.
func checkSlots(t *testing.T, clients []*redis.Client) {
	t.Helper()
	for _, c := range clients {
		info, err := c.Info(t.Context(), "errorstats", "commandstats").Result()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(info, "errorstat_CROSSSLOT") {
			t.Errorf("%s has refused commands that need two slots:\n%s", c.Options().Addr, info)
		}
		for _, m := range refusals.FindAllStringSubmatch(info, -1) {
			if refused := m[2] != "0" || m[3] != "0"; refused && !slices.Contains([]string{"client|setinfo", "client|maint_notifications", "evalsha"}, m[1]) {
				t.Errorf("%s has refused %s: %s rejected, %s failed", c.Options().Addr, m[1], m[2], m[3])
			}
		}
		failed, unknown := failedScripts.FindStringSubmatch(info), unknownScripts.FindStringSubmatch(info)
		if failed == nil || unknown == nil || failed[1] != unknown[1] {
			t.Errorf("%s has refused scripts: %q, of which it did not know %q", c.Options().Addr, failed, unknown)
		}
	}
}

var (
	failedScripts  = regexp.MustCompile(`(?m)^cmdstat_evalsha:.*failed_calls=(\d+)`)
	unknownScripts = regexp.MustCompile(`(?m)^errorstat_NOSCRIPT:count=(\d+)`)
	refusals       = regexp.MustCompile(`(?m)^cmdstat_([^:]+):.*rejected_calls=(\d+),failed_calls=(\d+)`)
)
