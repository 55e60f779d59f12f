package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

var (
	waitingRuns   = flag.Int("waiting.runs", 2000, "runs of TestWaitingRuns")
	waitingWindow = flag.Duration("waiting.window", scaletest.Of(2*time.Second, 4*time.Second), "how long it looks at Redis")
)

func costOf(t *testing.T, rdb *redis.Client) benchtest.RedisCost {
	t.Helper()
	c, err := benchtest.CostOf(t.Context(), rdb)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// costPerSecond returns commands and processor time for a second of the next d.
func costPerSecond(t *testing.T, rdb *redis.Client, what string, d time.Duration) (commands, cpu float64) {
	t.Helper()
	before := costOf(t, rdb)
	time.Sleep(d) // another program is measured
	after := costOf(t, rdb)
	commands, cpu = float64(after.Calls-before.Calls)/d.Seconds(), (after.Processor-before.Processor).Seconds()/d.Seconds()
	most := ""
	for name, n := range after.Commands {
		if per := float64(n-before.Commands[name]) / d.Seconds(); per > commands/12 {
			most += fmt.Sprintf(", %s %.0f", name, per)
		}
	}
	t.Logf("%s: %.0f commands/s (%s), %.1f %% of a core", what, commands, strings.TrimPrefix(most, ", "), 100*cpu)
	return commands, cpu
}

// TestWaitingRuns looks at what runs that wait cost Redis while a worker is busy with calls that hang, and how long
// enqueueing and cancelling them takes:
// go test ./cmd/nightdesk -run TestWaitingRuns -v -args -waiting.runs 100000 -waiting.window 20s
func TestWaitingRuns(t *testing.T) {
	t.Parallel()
	const slots = 4
	end := make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-end:
		}
	}))
	t.Cleanup(model.Close)
	t.Cleanup(func() { close(end) })
	socket := redistest.Socket(t)
	f := newDeskAt(t, "redis-socket://"+socket, "LLM_MODEL=stub", "LLM_BASE_URL="+model.URL+"/v1")
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	defer rdb.Close()
	w := f.worker(slots)
	f.enqueueParts(slots, "--preset", "deep")
	until(t, "calls", func() bool { return strings.Contains(f.output("list", "--state", "planning"), "harbour") })
	without, _ := costPerSecond(t, rdb, "none wait", *waitingWindow)

	var topics bytes.Buffer
	for i := range *waitingRuns {
		fmt.Fprintf(&topics, "What is known about the inspection of harbour number %d and of its quays, cranes, pilots and tugboats?\n", i)
	}
	if err := writeFile(filepath.Join(f.dir, "many.txt"), topics.String()); err != nil {
		t.Fatal(err)
	}
	before, began := costOf(t, rdb), time.Now()
	f.output("enqueue", "many.txt", "--batch", "many", "--kb", "docs", "--preset", "deep")
	took, after := time.Since(began), costOf(t, rdb)
	t.Logf("%d topics enqueued in %s, %d bytes of Redis each, %.1f commands each", *waitingRuns, took.Round(10*time.Millisecond),
		(after.Memory-before.Memory) / *waitingRuns, float64(after.Calls-before.Calls)/float64(*waitingRuns))
	with, _ := costPerSecond(t, rdb, fmt.Sprint(*waitingRuns, " wait"), *waitingWindow)
	if with > without+250 {
		t.Errorf("Redis has %.0f commands a second with %d runs that wait, %.0f without", with, *waitingRuns, without)
	}
	for _, args := range [][]string{{"status", "many"}, {"list", "--batch", "many", "--state", "completed"}, {"cancel", "many"}, {"status", "many"}} {
		began = time.Now()
		out := f.output(args...)
		t.Logf("nightdesk %s: %s: %s", strings.Join(args, " "), time.Since(began).Round(10*time.Millisecond), strings.Join(strings.Fields(out), " "))
	}
	began = time.Now()
	var last struct{ Unpublished int }
	for last.Unpublished = 1; last.Unpublished > 0 && time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) { // another program is watched
		if err := json.Unmarshal([]byte(f.output("status", "many", "--json")), &last); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s after the cancel, %d cancelled runs are still to be stored", time.Since(began).Round(100*time.Millisecond), last.Unpublished)
	costPerSecond(t, rdb, "after the cancel", *waitingWindow)
	if out := f.output("status", "many"); !strings.Contains(out, fmt.Sprintf("%-15s %d", "cancelled", *waitingRuns)) {
		t.Errorf("status: %s", out)
	}
	if err := w.Process.Signal(syscall.SIGKILL); err != nil { // its calls hang: stopping takes its time
		t.Error(err)
	}
	_ = w.Wait()
}
