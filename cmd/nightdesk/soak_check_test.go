package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
)

// soakRun is what one run has left behind, in a form that is the same for every run of its topic.
type soakRun struct {
	topic, state string
	files        []string          // of the bundle
	texts        map[string]string // the report and its evidence
	events       []string          // what the stream says, without times and attempts
}

var (
	aRunID = regexp.MustCompile(`research_\d{8}_\d{6}_`)
	aDate  = regexp.MustCompile(`\d{4}-\d\d-\d\d(T[\d:.]+Z)?`)
)

// sameText takes out of a text what differs between two runs of one topic.
func sameText(text string) string {
	return aDate.ReplaceAllString(aRunID.ReplaceAllString(text, "R"), "D")
}

// runs returns the runs of the batch by topic, and checks of each that its bundle is whole, its stream in order and its
// evidence there once.
func (s *soak) runs() map[string]soakRun {
	s.t.Helper()
	out := map[string]soakRun{}
	dec := json.NewDecoder(strings.NewReader(s.output("list", "--batch", "fleet", "--json")))
	for dec.More() {
		var line struct {
			RunID string `json:"run_id"`
			Topic string `json:"topic"`
			State string `json:"state"`
		}
		if err := dec.Decode(&line); err != nil {
			s.t.Fatal(err)
		}
		if _, twice := out[line.Topic]; twice {
			s.t.Errorf("%q has two runs", line.Topic)
		}
		out[line.Topic] = s.run(line.RunID, line.Topic, line.State)
	}
	return out
}

func (s *soak) run(id, topic, state string) soakRun {
	s.t.Helper()
	r := soakRun{topic: topic, state: state, texts: map[string]string{}}
	var manifest storage.Manifest
	s.readJSON(storage.ManifestKey(id), &manifest)
	for _, f := range manifest.Files {
		body := s.read(f.Key)
		if sum := sha256.Sum256(body); len(body) != f.Size || hex.EncodeToString(sum[:]) != f.SHA256 {
			s.t.Errorf("run %s: %s is not as the manifest says", id, f.Key)
		}
		r.files = append(r.files, sameText(f.Key))
	}
	for _, key := range []string{storage.ReportKey(id), storage.CacheKey(id, "outline.json"), storage.CacheKey(id, "claims.jsonl")} {
		r.texts[sameText(key)] = sameText(string(s.read(key)))
	}
	var events []topicqueue.Event
	for line := range strings.Lines(string(s.read(storage.CacheKey(id, "events.jsonl")))) {
		var e topicqueue.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.t.Fatal(err)
		}
		events = append(events, e)
		if e.Status != topicqueue.StatusSummaryStatistics { // says how long it took
			r.events = append(r.events, fmt.Sprintf("%d %s %v %s %s", e.Seq, e.BlockID, e.Placement, e.Status, sameText(string(e.Content))))
		}
	}
	eventtest.Check(s.t, events)
	if n := strings.Count(strings.Join(r.events, "\n"), " "+topicqueue.StatusComplete+" "); n != 1 {
		s.t.Errorf("run %s: its stream is complete %d times", id, n)
	}
	var queue struct {
		Blocks []struct {
			Traces []topicqueue.ToolTrace `json:"tool_traces"`
		} `json:"blocks"`
	}
	s.readJSON(storage.CacheKey(id, "queue.json"), &queue)
	seen := map[string]bool{}
	for _, b := range queue.Blocks {
		for _, t := range b.Traces {
			if seen[t.CitationID] {
				s.t.Errorf("run %s: two traces are %s", id, t.CitationID)
			}
			seen[t.CitationID] = true
		}
	}
	return r
}

func (s *soak) read(key string) []byte {
	s.t.Helper()
	body, err := os.ReadFile(filepath.Join(s.dir, "nightdesk-data", filepath.FromSlash(key)))
	if err != nil {
		s.t.Fatal(err)
	}
	return body
}

func (s *soak) readJSON(key string, into any) {
	s.t.Helper()
	if err := json.Unmarshal(s.read(key), into); err != nil {
		s.t.Fatalf("%s: %v", key, err)
	}
}

// checkSameRuns checks that every run has ended as the undisturbed one of its topic has.
func checkSameRuns(t *testing.T, got, want map[string]soakRun) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d runs, undisturbed %d", len(got), len(want))
	}
	for topic, w := range want {
		g := got[topic]
		if g.state != w.state {
			t.Errorf("%q is %q, undisturbed %q", topic, g.state, w.state)
		}
		for key, text := range w.texts {
			if g.texts[key] != text {
				t.Errorf("%q: %s differs from the undisturbed one: %s", topic, key, firstDifference(g.texts[key], text))
			}
		}
		if !slices.Equal(g.files, w.files) {
			t.Errorf("%q: files %q, undisturbed %q", topic, g.files, w.files)
		}
		if !slices.Equal(g.events, w.events) {
			t.Errorf("%q: the stream differs from the undisturbed one: %s", topic, firstDifference(strings.Join(g.events, "\n"), strings.Join(w.events, "\n")))
		}
	}
}

// firstDifference shows the first lines in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		la, lb := "(nothing)", "(nothing)"
		if i < len(a) {
			la = a[i]
		}
		if i < len(b) {
			lb = b[i]
		}
		if la != lb {
			return fmt.Sprintf("line %d\n got  %s\n want %s", i+1, la, lb)
		}
	}
	return ""
}

// recording is how long before the death of a process an answer may have been given that is not in the journal yet.
const recording = time.Second

// lostCalls returns by question how many calls were lost with their process, or with the last moments of Redis.
func (s *soak) lostCalls() (lost map[string]int, open int) {
	lost = map[string]int{}
	for _, c := range s.model.all() {
		for _, d := range s.deaths {
			inFlight := !c.from.After(d.at) && (!c.answered || c.to.After(d.at.Add(-recording)))
			if d.process == c.process && inFlight || d.process == "" && inFlight && c.answered && c.to.Before(d.at.Add(recording)) {
				lost[c.hash]++
				if d.process != "" && !c.answered {
					open++
				}
				break
			}
		}
	}
	return lost, open
}

// checkCalls checks that no question was asked again but for calls that were lost, and returns how many were.
func (s *soak) checkCalls(undisturbed map[string]int) (repeated, open int) {
	s.t.Helper()
	lost, open := s.lostCalls()
	asked := s.model.questions()
	for hash, n := range asked {
		again := n - undisturbed[hash]
		repeated += max(0, again)
		switch {
		case undisturbed[hash] == 0:
			s.t.Errorf("question %s is new: undisturbed it is not asked", hash[:10])
		case again > lost[hash]:
			s.t.Errorf("question %s was asked %d times, undisturbed %d; %d of them were lost", hash[:10], n, undisturbed[hash], lost[hash])
		}
	}
	for hash := range undisturbed {
		if asked[hash] == 0 {
			s.t.Errorf("question %s was not asked", hash[:10])
		}
	}
	return repeated, open
}

// What stays in Redis for ever: batches with a line for each run, counts, names of model servers, and the job queue's own.
// Everything else of nightdesk's has a time to live. The families stand in the documentation of package redisqueue.
var (
	lastingKeys  = regexp.MustCompile(`^(asynq[:{].*|nightdesk:(batches|governors|batch:\{[^}]+\}:(runs|lines)|\{index\}:(clock|stats)))$`)
	expiringKeys = regexp.MustCompile(`^nightdesk:(probe|\{research_[^}]+\}:(run|work|blocks|queries|events|once|plan|usage|traces:(plan|block_\d+))|\{gov:[0-9a-f]+\}:.+)$`)
)

// checkKeys checks which keys are left when all runs have ended and a worker has looked at them since, and that those of
// the runs expire. It takes these away, as time does: then the runs are still listed.
func (s *soak) checkKeys(topics int) {
	s.t.Helper()
	ctx := s.t.Context()
	rdb := redis.NewClient(&redis.Options{Addr: s.redis.Addr()})
	defer rdb.Close()
	keys, err := rdb.Keys(ctx, "*").Result()
	if err != nil {
		s.t.Fatal(err)
	}
	var expired []string
	for _, key := range keys {
		if lastingKeys.MatchString(key) {
			continue
		}
		if ttl, err := rdb.PTTL(ctx, key).Result(); err != nil || ttl == -1 || !expiringKeys.MatchString(key) {
			s.t.Errorf("key %s is left, of no known family or for ever (%s, %v)", key, ttl, err)
		}
		expired = append(expired, key)
	}
	if len(expired) < topics {
		s.t.Fatalf("only %d keys are to expire: the test shows nothing", len(expired))
	}
	if err := rdb.Del(ctx, expired...).Err(); err != nil {
		s.t.Fatal(err)
	}
	if n := strings.Count(s.output("list", "--batch", "fleet", "--json"), `"report":"`); n != topics {
		s.t.Errorf("%d of %d runs are listed with their report after their state has expired", n, topics)
	}
}

// forgotten waits until no run is looked at any more.
func (s *soak) forgotten() {
	s.t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: s.redis.Addr()})
	defer rdb.Close()
	until(s.t, "no run is watched", func() bool {
		n, err := rdb.Exists(s.t.Context(), "nightdesk:{index}:runs", "nightdesk:{index}:states").Result()
		return err == nil && n == 0
	})
}

// tasks returns how many tasks the job queue has left, by state.
func (s *soak) tasks() map[string]int {
	s.t.Helper()
	inspector := asynq.NewInspector(asynq.RedisClientOpt{Addr: s.redis.Addr()})
	defer inspector.Close()
	queues, err := inspector.Queues()
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]int{}
	for _, q := range queues {
		info, err := inspector.GetQueueInfo(q)
		if err != nil {
			s.t.Fatal(err)
		}
		for state, n := range map[string]int{"pending": info.Pending, "active": info.Active, "retry": info.Retry, "scheduled": info.Scheduled, "archived": info.Archived, "completed": info.Completed} {
			if n > 0 {
				out[state] += n
			}
		}
	}
	return out
}
