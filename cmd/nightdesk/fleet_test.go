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

// TestFleet works many deep topics with two worker processes and a model with a fixed latency, and checks that every
// report is there and that no run ever has more blocks in flight than it may. With -v it prints calls and times.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	const parallel, slots = 3, 20
	dir := t.TempDir()
	program := filepath.Join(dir, "nightdesk")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	model := &fleetModel{blocks: map[string]map[string]*span{}}
	server := httptest.NewServer(&llmtest.Stub{Answer: model.answer, Latency: *fleetLatency})
	defer server.Close()
	env := append(os.Environ(), "REDIS_URL=redis-socket://"+redistest.Socket(t), "LLM_MODEL=stub", "LLM_BASE_URL="+server.URL+"/v1",
		"NIGHTDESK_RESEARCHING_MAX_PARALLEL_TOPICS="+fmt.Sprint(parallel), "NIGHTDESK_LOG_LEVEL=warn")
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	output := func(args ...string) string {
		t.Helper()
		var stderr bytes.Buffer
		cmd := command(args...)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("nightdesk %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
		}
		return string(out)
	}
	fleetCorpus(t, filepath.Join(dir, "docs"))
	output("kb", "add", "--name", "docs", "docs")
	var topics strings.Builder
	for i := range *fleetTopics {
		fmt.Fprintf(&topics, "How is harbour number %d operated and maintained?\n", i+1)
	}
	if err := writeFile(filepath.Join(dir, "topics.txt"), topics.String()); err != nil {
		t.Fatal(err)
	}
	output("enqueue", "topics.txt", "--batch", "fleet", "--preset", "deep", "--kb", "docs")

	started := time.Now()
	var workers []*exec.Cmd
	for range 2 {
		w := command("worker", "--concurrency", fmt.Sprint(slots))
		w.Stderr = os.Stderr
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		workers = append(workers, w)
	}
	states := map[string]int{}
	for states["completed"]+states["partial"]+states["failed"] < *fleetTopics {
		time.Sleep(200 * time.Millisecond) // another program is watched
		var s struct{ States map[string]int }
		if err := json.Unmarshal([]byte(output("status", "fleet", "--json")), &s); err != nil {
			t.Fatal(err)
		}
		states = s.States
		if time.Since(started) > 9*time.Minute {
			t.Fatalf("not done after %s: %v", time.Since(started), states)
		}
	}
	took := time.Since(started)
	for _, w := range workers {
		if err := w.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := w.Wait(); err != nil {
			t.Errorf("worker: %v", err)
		}
	}
	t.Logf("workers stopped after %s", (time.Since(started) - took).Round(10*time.Millisecond))
	if states["completed"] != *fleetTopics {
		t.Errorf("states %v, want %d completed", states, *fleetTopics)
	}
	reports, err := filepath.Glob(filepath.Join(dir, "nightdesk-data", "reports", "*.md"))
	if err != nil || len(reports) != *fleetTopics {
		t.Errorf("%d reports, %v; want %d", len(reports), err, *fleetTopics)
	}
	most, calls := model.most()
	if most > parallel {
		t.Errorf("%d blocks of one run in flight, want at most %d", most, parallel)
	}
	bound := time.Duration(calls) * *fleetLatency / (2 * slots)
	t.Logf("%d topics: %d model calls in %s; bound (calls x latency / slots) %s; at most %d blocks of a run in flight",
		*fleetTopics, calls, took.Round(10*time.Millisecond), bound.Round(10*time.Millisecond), most)
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
		for _, part := range fleetParts[:8] {
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
		if quote := sentence.FindString(q.User); quote != "" {
			claims = append(claims, object{"source": 1, "text": quote, "quote": quote})
		}
		return answer(object{"think": "", "summary": "Inspections are regular.", "claims": claims})
	case strings.HasPrefix(q.Name, "deduplicate"):
		return answer(object{"think": "", "groups": []object{}})
	case strings.HasPrefix(q.Name, "outline"):
		var sections []object
		for i, part := range fleetParts[:8] {
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
