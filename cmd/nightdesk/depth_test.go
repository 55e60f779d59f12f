package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/topicqueue/scaletest"
)

var (
	depthRuns    = flag.Int("depth.runs", scaletest.Of(8, 12), "runs of TestDepthFirst")
	depthLatency = flag.Duration("depth.latency", 20*time.Millisecond, "latency of its model")
)

// stages is how long the tasks of one run took.
type stages struct {
	plan, report time.Duration
	blocks       []time.Duration
	reported     time.Time // end of the report
}

// workerLog reads a worker's log: when tasks began, and how long they took.
type workerLog struct {
	mu     sync.Mutex
	rest   []byte
	runs   map[string]*stages
	began  time.Time // the first task
	starts []string  // "run unit", in order
}

func (l *workerLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.rest = rest
		var e struct {
			Run     string
			Unit    string
			Message string
			Took    float64 `json:"took_ms"`
		}
		if json.Unmarshal(line, &e) != nil || e.Run == "" {
			continue
		}
		if l.runs[e.Run] == nil {
			l.runs[e.Run] = &stages{}
		}
		took := time.Duration(e.Took * float64(time.Millisecond))
		switch run := l.runs[e.Run]; {
		case e.Message == "attempt started":
			if l.starts = append(l.starts, e.Run+" "+e.Unit); len(l.starts) == 1 {
				l.began = time.Now()
			}
		case e.Message != "attempt ended":
		case e.Unit == "plan":
			run.plan = took
		case e.Unit == "report":
			run.report, run.reported = took, time.Now()
		case strings.HasPrefix(e.Unit, "block_"):
			run.blocks = append(run.blocks, took)
		}
	}
}

// worked returns what the log has come to, the order in which tasks began, and when the first did.
func (l *workerLog) worked() (runs map[string]*stages, starts []string, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs, l.starts, l.began
}

// loggedWorker starts a worker whose log is read.
func (f *fleet) loggedWorker(slots string) (*workerLog, func()) {
	f.t.Helper()
	log := &workerLog{runs: map[string]*stages{}}
	w := f.command("worker", "--concurrency", slots, "--log-level", "info")
	w.Stderr = io.Writer(log)
	if err := w.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { w.Process.Kill() })
	return log, func() { f.stop(w) }
}

// simulate works runs whose tasks take these times on so many slots, and returns the mean time to their reports,
// and the time until the last one.
// depthFirst: reports go before blocks and those before plans, and one slot is for reports alone; else every task waits
// behind all that were there before.
func simulate(runs []*stages, slots int, depthFirst bool) (mean, all time.Duration) {
	const report, block, plan = 0, 1, 2
	type task struct {
		run, kind int
		took      time.Duration
		end       time.Duration
	}
	var queue, active []task
	left := make([]int, len(runs))
	for i, r := range runs {
		queue = append(queue, task{run: i, kind: plan, took: r.plan})
		left[i] = len(r.blocks)
	}
	var now, sum time.Duration
	for len(queue)+len(active) > 0 {
		for len(active) < slots && len(queue) > 0 {
			next, reports := 0, 0
			for i, t := range queue {
				if depthFirst && t.kind < queue[next].kind {
					next = i
				}
			}
			t := queue[next]
			for _, a := range active {
				if a.kind == report {
					reports++
				}
			}
			if depthFirst && t.kind != report && len(active)-min(reports, 1) >= slots-1 {
				break
			}
			queue = append(queue[:next:next], queue[next+1:]...)
			t.end = now + t.took
			active = append(active, t)
		}
		first := 0
		for i, t := range active {
			if t.end < active[first].end {
				first = i
			}
		}
		t := active[first]
		active = append(active[:first], active[first+1:]...)
		now = t.end
		switch r := runs[t.run]; t.kind {
		case plan:
			for _, took := range r.blocks {
				queue = append(queue, task{run: t.run, kind: block, took: took})
			}
		case block:
			if left[t.run]--; left[t.run] == 0 {
				queue = append(queue, task{run: t.run, kind: report, took: r.report})
			}
		case report:
			sum += now
		}
	}
	return sum / time.Duration(len(runs)), now
}

// TestDepthFirst measures the mean time to report of many runs on few slots of a real worker, and compares it with a
// simulation of one queue, first in first out, for tasks that take as long as those did. The simulation of our own
// order stands beside it, to show what it is worth: go test ./cmd/nightdesk -run TestDepthFirst -v -args -depth.runs
// 50 -depth.latency 80ms
func TestDepthFirst(t *testing.T) {
	t.Parallel()
	f := newFleet(t, *depthLatency)
	f.enqueue(*depthRuns, "--preset", "medium")
	log, stop := f.loggedWorker("3")
	f.checkReports(*depthRuns, f.wait(*depthRuns))
	stop()
	worked, _, began := log.worked()
	var runs []*stages
	var sum, all time.Duration
	for _, r := range worked {
		runs = append(runs, r)
		took := r.reported.Sub(began)
		sum, all = sum+took, max(all, took)
	}
	if len(runs) != *depthRuns {
		t.Fatalf("%d runs in the log, want %d", len(runs), *depthRuns)
	}
	measured := sum / time.Duration(len(runs))
	ours, _ := simulate(runs, 4, true)
	fifo, fifoAll := simulate(runs, 4, false)
	// What passes between tasks, which grows with the load of the machine, would delay the other order as much.
	fifo = time.Duration(float64(fifo) * all.Seconds() / fifoAll.Seconds())
	t.Logf("%d runs on 4 slots, one of them for reports alone, all done after %s; mean time to report %s measured, %s simulated; "+
		"first in first out %s: %.0f %% less", len(runs), all.Round(10*time.Millisecond), measured.Round(10*time.Millisecond),
		ours.Round(10*time.Millisecond), fifo.Round(10*time.Millisecond), 100*(1-measured.Seconds()/fifo.Seconds()))
	if measured > fifo {
		t.Errorf("mean time to report %s, first in first out would have %s", measured, fifo)
	}
}
