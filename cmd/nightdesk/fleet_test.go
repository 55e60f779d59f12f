package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue/proctest"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// fleet is a Redis, a model server and the program itself, for tests with several processes.
type fleet struct {
	t       *testing.T
	dir     string
	program string
	env     []string
	model   *fleetModel
	stub    *llmtest.Stub // its fields may be set before the first question
	socket  string        // of its Redis
}

func newFleet(t *testing.T, latency time.Duration, env ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), socket: redistest.Socket(t), model: newFleetModel(8)}
	f.program = link(t, f.dir)
	f.stub = &llmtest.Stub{Answer: f.model.answer, Latency: latency}
	server := httptest.NewServer(f.stub)
	t.Cleanup(server.Close)
	f.env = append(os.Environ(), "REDIS_URL=redis-socket://"+f.socket, "LLM_MODEL=stub", "LLM_BASE_URL="+server.URL+"/v1", "NIGHTDESK_LOG_LEVEL=error")
	f.env = append(f.env, env...)
	f.writeDocuments()
	f.output("kb", "add", "--name", "docs", "docs")
	return f
}

func (f *fleet) command(args ...string) *exec.Cmd {
	cmd := exec.Command(f.program, args...)
	cmd.Dir, cmd.Env = f.dir, f.env
	proctest.Tie(cmd)
	return cmd
}

func (f *fleet) output(args ...string) string {
	f.t.Helper()
	var stderr bytes.Buffer
	cmd := f.command(args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("nightdesk %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// writeDocuments writes what is indexed as the knowledge base docs.
func (f *fleet) writeDocuments() {
	f.t.Helper()
	if err := benchtest.WriteDocuments(filepath.Join(f.dir, "docs")); err != nil {
		f.t.Fatal(err)
	}
}

// enqueue puts so many topics into the batch "fleet".
func (f *fleet) enqueue(n int, args ...string) {
	f.t.Helper()
	var topics strings.Builder
	for i := range n {
		topics.WriteString(benchtest.Topic(i) + "\n")
	}
	if err := writeFile(filepath.Join(f.dir, "topics.txt"), topics.String()); err != nil {
		f.t.Fatal(err)
	}
	f.output(append([]string{"enqueue", "topics.txt", "--batch", "fleet", "--kb", "docs"}, args...)...)
}

func (f *fleet) worker(slots int) *exec.Cmd {
	f.t.Helper()
	w := f.command("worker", "--concurrency", fmt.Sprint(slots))
	w.Stderr = os.Stderr
	if err := w.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { w.Process.Kill() })
	return w
}

func (f *fleet) stop(w *exec.Cmd) {
	f.t.Helper()
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		f.t.Error(err)
	}
	if err := w.Wait(); err != nil {
		f.t.Errorf("worker: %v", err)
	}
}

// wait returns the states of the batch when all of its runs have ended and are in storage.
func (f *fleet) wait(runs int) map[string]int {
	f.t.Helper()
	for started := time.Now(); ; time.Sleep(200 * time.Millisecond) { // another program is watched
		var s struct {
			States      map[string]int
			Unpublished int
		}
		if err := json.Unmarshal([]byte(f.output("status", "fleet", "--json")), &s); err != nil {
			f.t.Fatal(err)
		}
		if s.States["completed"]+s.States["partial"]+s.States["failed"] == runs && s.Unpublished == 0 {
			return s.States
		}
		if time.Since(started) > scaletest.Patience {
			f.t.Fatalf("not done after %s: %v", time.Since(started), s.States)
		}
	}
}

// checkReports checks that every run completed and has its report.
func (f *fleet) checkReports(runs int, states map[string]int) {
	f.t.Helper()
	if states["completed"] != runs {
		f.t.Errorf("states %v, want %d completed", states, runs)
	}
	reports, err := filepath.Glob(filepath.Join(f.dir, "nightdesk-data", "reports", "*.md"))
	if err != nil || len(reports) != runs {
		f.t.Errorf("%d reports, %v; want %d", len(reports), err, runs)
	}
}

// TestKilledWorker kills one of two workers in the middle of its work: the other one takes over what it held, and no
// run ever has more blocks in flight than it may.
func TestKilledWorker(t *testing.T) {
	t.Parallel() // it waits for a lease most of the time
	const topics, parallel = 3, 3
	f := newFleet(t, 50*time.Millisecond, "NIGHTDESK_RESEARCHING_MAX_PARALLEL_TOPICS="+fmt.Sprint(parallel), shortLease)
	f.enqueue(topics, "--preset", "medium")
	victim := f.worker(6)
	until(t, "the worker is in the middle of blocks", func() bool { return f.model.blocksSeen() >= 3 })
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	heir := f.worker(20)
	states := f.wait(topics)
	took := time.Since(killed)
	f.stop(heir)
	f.checkReports(topics, states)
	if most, _ := f.model.most(); most > parallel {
		t.Errorf("%d blocks of one run in flight, want at most %d", most, parallel)
	}
	t.Logf("all reports there %s after the kill", took.Round(10*time.Millisecond))
}
