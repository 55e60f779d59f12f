package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue/redisqueue/redistest"
)

var (
	fleetTopics  = flag.Int("fleet.topics", 6, "topics of TestFleet")
	fleetLatency = flag.Duration("fleet.latency", 20*time.Millisecond, "latency of its model")
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
}

func newFleet(t *testing.T, latency time.Duration, env ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), model: &fleetModel{blocks: map[string]map[string]*span{}, parts: 8}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.program = filepath.Join(f.dir, "nightdesk")
	if err := os.Symlink(self, f.program); err != nil {
		t.Fatal(err)
	}
	f.stub = &llmtest.Stub{Answer: f.model.answer, Latency: latency}
	server := httptest.NewServer(f.stub)
	t.Cleanup(server.Close)
	f.env = append(os.Environ(), "REDIS_URL=redis-socket://"+redistest.Socket(t), "LLM_MODEL=stub", "LLM_BASE_URL="+server.URL+"/v1", "NIGHTDESK_LOG_LEVEL=error")
	f.env = append(f.env, env...)
	fleetCorpus(t, filepath.Join(f.dir, "docs"))
	f.output("kb", "add", "--name", "docs", "docs")
	return f
}

func (f *fleet) command(args ...string) *exec.Cmd {
	cmd := exec.Command(f.program, args...)
	cmd.Dir, cmd.Env = f.dir, f.env
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

// enqueue puts so many topics into the batch "fleet".
func (f *fleet) enqueue(n int, args ...string) {
	f.t.Helper()
	var topics strings.Builder
	for i := range n {
		fmt.Fprintf(&topics, "How is harbour number %d operated and maintained?\n", i+1)
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
		if time.Since(started) > 9*time.Minute {
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

// TestFleet works many deep topics with two worker processes and a model with a fixed latency, and checks that every
// report is there and that no run ever has more blocks in flight than it may. With -v it prints calls and times.
func TestFleet(t *testing.T) {
	const parallel, slots = 3, 20
	f := newFleet(t, *fleetLatency, "NIGHTDESK_RESEARCHING_MAX_PARALLEL_TOPICS="+fmt.Sprint(parallel))
	f.enqueue(*fleetTopics, "--preset", "deep")
	started := time.Now()
	first, second := f.worker(slots), f.worker(slots)
	states := f.wait(*fleetTopics)
	took := time.Since(started)
	f.stop(first)
	f.stop(second)
	f.checkReports(*fleetTopics, states)
	most, calls := f.model.most()
	if most > parallel {
		t.Errorf("%d blocks of one run in flight, want at most %d", most, parallel)
	}
	bound := time.Duration(calls) * *fleetLatency / (2 * slots)
	t.Logf("%d topics: %d model calls in %s; bound (calls x latency / slots) %s; at most %d blocks of a run in flight",
		*fleetTopics, calls, took.Round(10*time.Millisecond), bound.Round(10*time.Millisecond), most)
}

// TestKilledWorker kills one of two workers in the middle of its work: the other one takes over what it held, and no run
// ever has more blocks in flight than it may.
func TestKilledWorker(t *testing.T) {
	t.Parallel() // it waits for a lease most of the time
	const topics, parallel = 3, 3
	f := newFleet(t, 50*time.Millisecond, "NIGHTDESK_RESEARCHING_MAX_PARALLEL_TOPICS="+fmt.Sprint(parallel))
	f.enqueue(topics, "--preset", "medium")
	victim := f.worker(6)
	for f.model.blocksSeen() < 3 { // it is in the middle of blocks
		time.Sleep(10 * time.Millisecond)
	}
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
	if took > 60*time.Second {
		t.Errorf("the work of a killed worker was taken over too late: everything was done after %s", took)
	}
}

// fleetCorpus writes documents with many short sections.
func fleetCorpus(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, part := range fleetParts {
		var doc strings.Builder
		fmt.Fprintf(&doc, "# The %s of a harbour\n", part)
		for j, part2 := range fleetParts {
			fmt.Fprintf(&doc, "\n## The %s and the %s\n\n", part, part2)
			for k := range 4 {
				fmt.Fprintf(&doc, "The harbour inspects the %s and the %s every %d days under rule %d.%d.%d. ", part, part2, 10+k, i+1, j+1, k+1)
			}
			doc.WriteString("\n")
		}
		if err := writeFile(filepath.Join(dir, part+".md"), doc.String()); err != nil {
			t.Fatal(err)
		}
	}
}

var fleetParts = []string{"quays", "cranes", "pilots", "tugboats", "lighthouses", "customs", "warehouses", "dredgers",
	"moorings", "railways", "ferries", "breakwaters", "signals", "bunkers", "gangways", "locks"}

// span is the time from the first model call of a block to the end of its last.
type span struct{ from, to time.Time }

// fleetModel gives sensible answers and remembers when each block was worked.
type fleetModel struct {
	mu     sync.Mutex
	blocks map[string]map[string]*span // topic -> title -> when
	calls  int
	parts  int             // topic blocks that it plans
	review func() []string // titles of the gaps that a review finds; nil: none
	claims int             // of one note, at most; 0: 1
}

var (
	harbour   = regexp.MustCompile(`harbour number \d+`)
	blockName = regexp.MustCompile(`(?m)^Title: (The [a-z]+ of the harbour)$`)
	iteration = regexp.MustCompile(`Iteration (\d+) of`)
	sentence  = regexp.MustCompile(`The harbour inspects [^.]*rule [\d.]+\.`)
	citation  = regexp.MustCompile(`\[CIT-\d+-\d+\]`)
)

func (f *fleetModel) answer(q llmtest.Question) (string, bool) {
	title := ""
	if m := blockName.FindStringSubmatch(q.User); m != nil {
		title = m[1]
	}
	f.mu.Lock()
	f.calls++
	if title != "" && (strings.HasPrefix(q.Name, "decide") || strings.HasPrefix(q.Name, "note")) {
		topic := harbour.FindString(q.User)
		if f.blocks[topic] == nil {
			f.blocks[topic] = map[string]*span{}
		}
		now := time.Now()
		if s := f.blocks[topic][title]; s == nil {
			f.blocks[topic][title] = &span{now, now}
		} else {
			s.to = now
		}
	}
	f.mu.Unlock()
	answer := func(v any) (string, bool) {
		data, _ := json.Marshal(v)
		return string(data), true
	}
	type object = map[string]any
	switch {
	case strings.HasPrefix(q.Name, "queries"):
		return answer(object{"think": "", "queries": fleetParts[:8]})
	case strings.HasPrefix(q.Name, "decompose"):
		var topics []object
		for _, part := range fleetParts[:f.parts] {
			topics = append(topics, object{"title": "The " + part + " of the harbour", "overview": "Find out how the " + part + " are kept. Note every rule.", "queries": []string{part}})
		}
		return answer(object{"think": "", "sub_topics": topics})
	case strings.HasPrefix(q.Name, "decide"):
		k := 1
		if m := iteration.FindStringSubmatch(q.User); m != nil {
			fmt.Sscan(m[1], &k)
		}
		query := fmt.Sprintf("%s and the %s", title, fleetParts[(k*2)%len(fleetParts)])
		return answer(object{"think": "", "reasoning": "More is needed.", "is_sufficient": false, "new_sub_topics": []object{},
			"actions": []object{{"tool_type": "rag_hybrid", "query": query, "rationale": "a gap"}}})
	case strings.HasPrefix(q.Name, "note"):
		claims := []object{}
		for _, quote := range sentence.FindAllString(q.User, max(1, f.claims)) {
			claims = append(claims, object{"source": 1, "text": quote, "quote": quote})
		}
		return answer(object{"think": "", "summary": "Inspections are regular.", "claims": claims})
	case strings.HasPrefix(q.Name, "review"):
		gaps := []object{}
		if f.review != nil {
			for _, title := range f.review() {
				gaps = append(gaps, object{"title": title, "overview": "Find out.", "queries": []string{title}, "parent": "", "reason": "It is open."})
			}
		}
		return answer(object{"think": "", "draft": "", "reasoning": "All else is answered.", "gaps": gaps, "same": []object{}})
	case strings.HasPrefix(q.Name, "deduplicate"):
		return answer(object{"think": "", "groups": []object{}})
	case strings.HasPrefix(q.Name, "outline"):
		var sections []object
		for i, part := range fleetParts[:f.parts] {
			sections = append(sections, object{"title": "How the " + part + " are kept", "instruction": "Tell.", "block_ids": []string{fmt.Sprintf("block_%d", i+1)}, "subsections": []object{}})
		}
		return answer(object{"think": "", "title": "Keeping a harbour", "introduction": "Begin.", "conclusion": "End.", "sections": sections})
	case q.Schema == nil:
		ids := citation.FindAllString(q.User, 3)
		text := "The harbour keeps a calendar of inspections."
		for _, id := range ids {
			text += fmt.Sprintf(" %s records one rule of it %s.", strings.Trim(id, "[]"), id)
		}
		return text, true
	}
	return "", false
}

// blocksSeen returns how many blocks have been asked about.
func (f *fleetModel) blocksSeen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, blocks := range f.blocks {
		n += len(blocks)
	}
	return n
}

// most returns the largest number of blocks of one run whose spans overlap, and the number of calls.
func (f *fleetModel) most() (most, calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, blocks := range f.blocks {
		type edge struct {
			at    time.Time
			delta int
		}
		var edges []edge
		for _, s := range blocks {
			edges = append(edges, edge{s.from, 1}, edge{s.to, -1})
		}
		sort.Slice(edges, func(i, j int) bool { return edges[i].at.Before(edges[j].at) })
		n := 0
		for _, e := range edges {
			n += e.delta
			most = max(most, n)
		}
	}
	return most, f.calls
}
