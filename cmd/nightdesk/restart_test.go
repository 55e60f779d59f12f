package main_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestRedisRestart restarts a Redis with an append-only file several times in the middle of a batch, once it asks the
// server to stop and once it kills it: every run ends with its report, and no event is lost or there twice.
func TestRedisRestart(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"stopped": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const topics = 12
			server := redistest.Start(t, "--port", "PORT", "--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--maxmemory-policy", "noeviction")
			f := newDeskAt(t, "redis://"+server.Addr())
			f.enqueueParts(topics, "--preset", "medium")
			reports := func() int {
				files, _ := filepath.Glob(filepath.Join(f.dir, "nightdesk-data", "reports", "*.md"))
				return len(files)
			}
			workers := []*exec.Cmd{f.worker(2), f.worker(2)}
			for _, after := range []int{1, 3, 6} {
				until(t, "reports", func() bool { return reports() >= after })
				server.End(signal)
				server.Begin()
			}
			restarted := time.Now()
			f.checkReports(topics, f.wait(topics))
			t.Logf("all reports %s after the last restart", time.Since(restarted).Round(10*time.Millisecond))
			for _, w := range workers {
				f.stop(w)
			}
			checkEvents(t, server.Addr(), f)
		})
	}
}

// checkEvents checks the event stream of every run: numbered without a gap, complete, the end there once.
func checkEvents(t *testing.T, addr string, f *fleet) {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	dec := json.NewDecoder(strings.NewReader(f.output("list", "--batch", "fleet", "--json")))
	for dec.More() {
		var run struct {
			RunID string `json:"run_id"`
		}
		if err := dec.Decode(&run); err != nil {
			t.Fatal(err)
		}
		messages, err := rdb.XRange(t.Context(), "nightdesk:{"+run.RunID+"}:events", "-", "+").Result()
		if err != nil || len(messages) == 0 {
			t.Fatalf("run %s has %d events, %v", run.RunID, len(messages), err)
		}
		ends := 0
		for i, m := range messages {
			if seq, _, _ := strings.Cut(m.ID, "-"); seq != fmt.Sprint(i+1) {
				t.Errorf("run %s: event %d has number %s", run.RunID, i+1, seq)
			}
			if m.Values["status"] == "complete" {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("run %s ended %d times", run.RunID, ends)
		}
	}
}
