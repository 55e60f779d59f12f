package main_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/config"
	"nightdesk/jobs/purge"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/scaletest"
)

var (
	fleetTopics  = flag.Int("fleet.topics", scaletest.Of(3, 6), "topics of TestFleet")
	fleetLatency = flag.Duration("fleet.latency", 20*time.Millisecond, "latency of its model")
	fleetPreset  = flag.String("fleet.preset", "deep", "preset of its topics")
	fleetWorkers = flag.Int("fleet.workers", 2, "worker processes")
	fleetSlots   = flag.Int("fleet.slots", 20, "slots of each: worker.concurrency")
	fleetProfile = flag.String("fleet.profile", "", "directory into which workers write what they spend processor time on")
)

// TestFleet works many topics with several worker processes and a model with a fixed latency, and checks that every
// report is there, that no run ever has more blocks in flight than it may, and that nothing is left in Redis when all
// has expired and was purged. With -v it prints what a desk's size is computed from, for example go test
// ./cmd/nightdesk -run TestFleet -v -timeout 1h -args -fleet.topics 1000 -fleet.preset quick
func TestFleet(t *testing.T) {
	t.Parallel()
	const parallel = 3
	settings, err := config.Load("", false, func(string) string { return "" }, map[string]string{"preset": *fleetPreset})
	if err != nil {
		t.Fatal(err)
	}
	f := newFleet(t, *fleetLatency, "NIGHTDESK_RESEARCHING_MAX_PARALLEL_TOPICS="+fmt.Sprint(parallel))
	if *fleetProfile != "" {
		f.env = append(f.env, "FLEET_PROFILE="+*fleetProfile)
	}
	f.model.Parts = settings.Planning.Decompose.InitialSubtopics
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: f.socket})
	defer rdb.Close()
	f.enqueue(*fleetTopics, "--preset", *fleetPreset)
	waiting := costOf(t, rdb)
	started, mine := time.Now(), processorTime(t)
	var workers []*exec.Cmd
	for range *fleetWorkers {
		workers = append(workers, f.worker(*fleetSlots))
	}
	f.watch(rdb, workers, started)
	took, cost, mine := time.Since(started), costOf(t, rdb), processorTime(t)-mine
	states := f.wait(*fleetTopics)
	t.Logf("Redis for a topic, in bytes: %s", f.memoryByKind(rdb))
	f.expired(rdb)
	var peaks []string
	for _, w := range workers {
		peaks = append(peaks, fmt.Sprintf("%d MB", residentMB(w, "VmHWM")))
		if *fleetProfile != "" {
			writeProfile(t, w)
		}
	}
	workersTime := time.Duration(0)
	for _, w := range workers {
		f.stop(w)
		workersTime += w.ProcessState.UserTime() + w.ProcessState.SystemTime()
	}
	f.checkReports(*fleetTopics, states)
	peak := redisPeak(t, rdb)
	f.purged(rdb)
	most, calls := f.model.most()
	if most > parallel {
		t.Errorf("%d blocks of one run in flight, want at most %d", most, parallel)
	}
	perTopic := func(d time.Duration) time.Duration {
		return (d / time.Duration(*fleetTopics)).Round(10 * time.Microsecond)
	}
	slots := *fleetWorkers * *fleetSlots
	t.Logf("%d topics, preset %s, %d workers with %d slots, latency %s: %d model calls in %s; bound (calls x latency / slots) %s; %.0f topics a minute; blocks of a run in flight, where it has several: at most %d",
		*fleetTopics, *fleetPreset, *fleetWorkers, *fleetSlots, *fleetLatency, calls, took.Round(10*time.Millisecond),
		(time.Duration(calls) * *fleetLatency / time.Duration(slots)).Round(10*time.Millisecond), float64(*fleetTopics)/took.Minutes(), most)
	t.Logf("processor time a topic: workers %s, Redis %s, model server %s; commands of Redis a topic, those in scripts too: %d (%s)",
		perTopic(workersTime), perTopic(cost.Processor-waiting.Processor), perTopic(mine), (cost.Calls-waiting.Calls) / *fleetTopics, mostCommands(waiting, cost))
	t.Logf("memory: workers at most %s; Redis at most %d MB, with all topics waiting %d MB, at the end of the work %d MB",
		strings.Join(peaks, ", "), peak>>20, waiting.Memory>>20, cost.Memory>>20)
}

// watch waits until all runs are published, and tells on the way how many are and what memory is in use.
func (f *fleet) watch(rdb *redis.Client, workers []*exec.Cmd, started time.Time) {
	f.t.Helper()
	next := 1
	for done := int64(0); done < int64(*fleetTopics); time.Sleep(100 * time.Millisecond) { // other programs are measured
		var err error
		if done, err = rdb.HLen(f.t.Context(), "nightdesk:batch:{fleet}:lines").Result(); err != nil {
			f.t.Fatal(err)
		}
		if done*10 < int64(next**fleetTopics) {
			continue
		}
		next = int(done)*10 / *fleetTopics + 1
		keys, err := rdb.DBSize(f.t.Context()).Result()
		if err != nil {
			f.t.Fatal(err)
		}
		var resident []string
		for _, w := range workers {
			resident = append(resident, fmt.Sprint(residentMB(w, "VmRSS")))
		}
		f.t.Logf("after %s: %d reports; workers have %s MB, Redis %d MB and %d keys", time.Since(started).Round(100*time.Millisecond), done,
			strings.Join(resident, ", "), costOf(f.t, rdb).Memory>>20, keys)
	}
}

// memoryByKind says what kinds of keys take most of Redis's memory, by a look at all of them, of many at some.
func (f *fleet) memoryByKind(rdb *redis.Client) string {
	f.t.Helper()
	ctx, each := f.t.Context(), 1
	if *fleetTopics >= 1000 {
		each = *fleetTopics / 100
	}
	used, n := map[string]int64{}, 0
	keys := rdb.Scan(ctx, 0, "*", 1000).Iterator()
	for ; keys.Next(ctx); n++ {
		if n%each > 0 {
			continue
		}
		size, err := rdb.MemoryUsage(ctx, keys.Val(), 0).Result()
		if err != nil && !errors.Is(err, redis.Nil) { // it has expired meanwhile
			f.t.Fatal(err)
		}
		used[keyKind.ReplaceAllString(keys.Val(), "$1$2$3")] += size * int64(each)
	}
	if err := keys.Err(); err != nil {
		f.t.Fatal(err)
	}
	kinds := slices.SortedFunc(maps.Keys(used), func(a, b string) int { return cmp.Compare(used[b], used[a]) })
	var out []string
	for _, kind := range kinds[:min(8, len(kinds))] {
		out = append(out, fmt.Sprintf("%s %d", kind, used[kind]/int64(*fleetTopics)))
	}
	return strings.Join(out, ", ")
}

// keyKind takes out of a key what differs from one run, call or block to another.
var keyKind = regexp.MustCompile(`^nightdesk:\{(?:research_[^}]*\}:([a-z]+)(?::block_\d+|:plan)?|(gov|shared):.*)$|^nightdesk:(batch):.*$`)

// expired takes away what is to expire, and checks that what is left is as documented.
func (f *fleet) expired(rdb *redis.Client) {
	f.t.Helper()
	ctx := f.t.Context()
	lasting, expiring := keyFamilies(f.t)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Second) { // another program is watched
		left, wait := map[string]int{}, ""
		keys := rdb.Scan(ctx, 0, "*", 1000).Iterator()
		for keys.Next(ctx) {
			key := keys.Val()
			if lasting.MatchString(key) {
				left[key]++
				continue
			}
			ttl, err := rdb.PTTL(ctx, key).Result()
			if err != nil || !expiring.MatchString(key) {
				f.t.Fatalf("key %s is of no known family, %v", key, err)
			}
			if ttl <= 0 {
				wait = key
				continue
			}
			if err := rdb.Del(ctx, key).Err(); err != nil {
				f.t.Fatal(err)
			}
		}
		if err := keys.Err(); err != nil {
			f.t.Fatal(err)
		}
		if wait == "" {
			f.t.Logf("keys that do not expire: %d", len(left))
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("%s is still there", wait)
		}
	}
}

// purged purges all, as on a day far ahead, and checks that nothing is left of the batch.
func (f *fleet) purged(rdb *redis.Client) {
	f.t.Helper()
	ctx := f.t.Context()
	order := purge.Order{Queue: redisqueue.New(rdb, redisqueue.DefaultTiming), Store: storage.NewDir(filepath.Join(f.dir, "nightdesk-data")),
		Now: time.Now().Add(400 * 24 * time.Hour), Days: 1}
	if err := purge.Run(ctx, order, func(purge.Item) error { return nil }); err != nil {
		f.t.Fatal(err)
	}
	tasks := asynq.NewInspectorFromRedisClient(rdb)
	queues, err := tasks.Queues()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, queue := range queues { // tasks that have ended can be seen for a day
		if _, err := tasks.DeleteAllCompletedTasks(queue); err != nil {
			f.t.Fatal(err)
		}
	}
	keys, err := rdb.Keys(ctx, "*").Result()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, key := range keys {
		if !ofTheDesk.MatchString(key) {
			f.t.Errorf("key %s is left", key)
		}
	}
	f.t.Logf("keys after a purge: %d", len(keys))
	files := 0
	err = filepath.WalkDir(filepath.Join(f.dir, "nightdesk-data"), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == "knowledge" {
			return filepath.SkipDir
		}
		if err == nil && !e.IsDir() && e.Name() != "writable" { // by which a worker has tried the storage
			f.t.Logf("%s is left", path)
			files++
		}
		return err
	})
	if err != nil || files > 0 {
		f.t.Errorf("%d files are left, %v", files, err)
	}
}

// ofTheDesk are the keys that a desk has without any run: counters and figures.
var ofTheDesk = regexp.MustCompile(`^(nightdesk:(\{index\}:(clock|stats|workers)|governors)|asynq:(queues|servers|workers|\{[a-z-]+\}:(processed|failed)(:.*)?))$`)

// mostCommands says which commands Redis had most of, and how many a topic.
func mostCommands(before, after benchtest.RedisCost) string {
	calls := func(name string) int { return (after.Commands[name] - before.Commands[name]) / *fleetTopics }
	names := slices.SortedFunc(maps.Keys(after.Commands), func(a, b string) int { return cmp.Compare(calls(b), calls(a)) })
	var out []string
	for _, name := range names[:min(8, len(names))] {
		out = append(out, fmt.Sprintf("%s %d", name, calls(name)))
	}
	return strings.Join(out, ", ")
}

// residentMB reads a figure of a process that runs, such as VmRSS.
func residentMB(p *exec.Cmd, figure string) int {
	return int(benchtest.Resident(p.Process.Pid, figure) >> 20)
}

// processorTime returns what this process has used, in which the model server is.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

var peakMemory = regexp.MustCompile(`(?m)^used_memory_peak:(\d+)`)

func redisPeak(t *testing.T, rdb *redis.Client) int {
	t.Helper()
	info, err := rdb.Info(t.Context(), "memory").Result()
	m := peakMemory.FindStringSubmatch(info)
	if err != nil || m == nil {
		t.Fatalf("memory of Redis: %v", err)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// writeProfile has a worker write its profile; see TestMain.
func writeProfile(t *testing.T, w *exec.Cmd) {
	t.Helper()
	if err := w.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	until(t, "a profile", func() bool {
		_, err := os.Stat(filepath.Join(*fleetProfile, fmt.Sprint(w.Process.Pid)+".pprof"))
		return err == nil
	})
}
