package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
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
	calls        int               // in its accounts
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
		key := sameText(f.Key)
		if bytes.HasPrefix(body, []byte(`{"tool_id":`)) { // what calls returned, and when
			sum := sha256.Sum256(retrievedAt.ReplaceAll(body, nil))
			key = path.Dir(key) + "/" + hex.EncodeToString(sum[:])
		}
		r.files = append(r.files, key)
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
	var costs struct {
		Summary struct {
			Calls int `json:"total_calls"`
		} `json:"summary"`
	}
	s.readJSON(storage.CacheKey(id, "token_cost_summary.json"), &costs)
	r.calls = costs.Summary.Calls
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
	slices.Sort(r.files)
	return r
}

// retrievedAt is the moment of a retrieval in what calls returned, and where the document lay: each test has its own
// desk.
var retrievedAt = regexp.MustCompile(`"(?:retrieved_at|file)":"[^"]*"`)

func (s *soak) read(key string) []byte {
	s.t.Helper()
	body, err := s.store.Get(s.t.Context(), key)
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

// flushing is how late a Redis that was killed may have written to its file what it has acknowledged (appendfsync
// everysec).
const flushing = 2 * time.Second

// repeats are calls that were made more often than undisturbed, by what had become of the first one.
type repeats struct {
	open   int           // its process died while it was open
	late   int           // it was answered, and nothing shows that it was recorded before its process died
	lateBy time.Duration // the longest time between such an answer and the death
	redis  int           // it was recorded in the last moments of a Redis that was killed
}

func (r repeats) all() int { return r.open + r.late + r.redis }

// lost says what became of a call that perhaps nobody has recorded; zero for any other. A run in series asks one step
// after the other: who has asked the next one knows the answer to the one before.
func (s *soak) lost(c soakCall, calls []soakCall) (r repeats) {
	for _, d := range s.deaths {
		before := d.at.Sub(c.to)
		next := func(process string, from, to time.Time) bool { // process: empty for any
			return slices.ContainsFunc(calls, func(o soakCall) bool {
				return o.topic == c.topic && o.step != c.step && (process == "" || o.process == process) && o.from.After(from) && o.from.Before(to)
			})
		}
		switch {
		case d.process != "" && d.process != c.process:
		case !d.until.IsZero() && c.from.After(d.until) && next(c.process, d.until, c.from): // what it was about to ask when it was frozen was another
		case c.answered && next("", c.to, d.at): // recorded
		case d.process == c.process && (!c.answered || before < 0): // also what the server read only after the death, or when the process went on
			return repeats{open: 1}
		case d.process == c.process:
			return repeats{late: 1, lateBy: before}
		case d.process == "" && c.answered && before > -flushing && before < flushing:
			return repeats{redis: 1}
		}
	}
	return repeats{}
}

// checkCalls checks that no question was asked again but for calls that were lost, and that every call of a run is in
// its accounts once, but perhaps those. It returns how many were repeated, and how many were open at the deaths of
// their processes.
func (s *soak) checkCalls(undisturbed map[string]int, runs map[string]soakRun) (sum repeats, inFlight int) {
	s.t.Helper()
	calls := s.model.all()
	lost, asked, everLost := map[string][]repeats{}, map[string]int{}, 0
	for _, c := range calls {
		asked[c.hash]++
		if r := s.lost(c, calls); r.all() > 0 {
			lost[c.hash] = append(lost[c.hash], r)
			everLost++
			inFlight += r.open
		}
	}
	for hash, n := range asked {
		again := n - undisturbed[hash]
		switch {
		case undisturbed[hash] == 0:
			s.t.Errorf("question %s is new: undisturbed it is not asked", hash[:10])
		case again > len(lost[hash]):
			s.t.Errorf("question %s was asked %d times, undisturbed %d; %d of them were lost: %s", hash[:10], n, undisturbed[hash], len(lost[hash]), s.history(hash))
		}
		for i := range min(again, len(lost[hash])) {
			r := lost[hash][i]
			sum.open, sum.late, sum.redis, sum.lateBy = sum.open+r.open, sum.late+r.late, sum.redis+r.redis, max(sum.lateBy, r.lateBy)
		}
	}
	for hash := range undisturbed {
		if asked[hash] == 0 {
			s.t.Errorf("question %s was not asked", hash[:10])
		}
	}
	counted := 0
	for _, r := range runs {
		counted += r.calls
	}
	if counted > len(calls) || counted < len(calls)-everLost {
		s.t.Errorf("the accounts of the runs have %d calls; %d were made, of which %d were lost", counted, len(calls), everLost)
	}
	return sum, inFlight
}

// history tells what became of a question.
func (s *soak) history(hash string) string {
	var b strings.Builder
	clock := func(t time.Time) string { return t.Format("05.000") }
	for _, c := range s.model.all() {
		if c.hash == hash {
			fmt.Fprintf(&b, "\n  %s %q %s of %s, %s to %s, answered: %v", c.process, c.step, c.block, c.topic, clock(c.from), clock(c.to), c.answered)
		}
	}
	for _, d := range s.deaths {
		fmt.Fprintf(&b, "\n  death of %q at %s until %s", d.process, clock(d.at), clock(d.until))
	}
	return b.String()
}

// keyFamilies reads from the documentation of package redisqueue which keys there are, and which of them stay for ever.
func keyFamilies(t *testing.T) (lasting, expiring *regexp.Regexp) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "topicqueue", "redisqueue", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	stay, pass := []string{`asynq[:{].*`, `nightdesk:governors`}, []string{`nightdesk:\{gov:[0-9a-f]+\}:.+`, `nightdesk:\{shared:[0-9a-f]+\}`} // see packages governor and shared
	for _, m := range documentedKey.FindAllStringSubmatch(string(doc), -1) {
		name := strings.NewReplacer(`RUN`, `research_[^}]+`, `BLOCK`, `block_\d+`, `LANE`, `\w*`, `BATCH`, `[^}]+`).Replace(regexp.QuoteMeta(m[1]))
		if strings.HasPrefix(m[2], "for ever") || strings.HasSuffix(m[2], "a week after its death") { // workers are killed here
			stay = append(stay, name)
		} else {
			pass = append(pass, name)
		}
	}
	return regexp.MustCompile(`^(` + strings.Join(stay, "|") + `)$`), regexp.MustCompile(`^(` + strings.Join(pass, "|") + `)$`)
}

var documentedKey = regexp.MustCompile(`(?m)^//\t(nightdesk:\S+)\s+(?:string|hash|list|set|sorted set|stream)\s+(\S.*)$`)

// checkKeys checks which keys are left when all runs have ended and a worker has looked at them since, and that those
// of the runs expire. It takes these away, as time does: then the runs are still listed.
func (s *soak) checkKeys(topics int) {
	s.t.Helper()
	ctx := s.t.Context()
	rdb := redis.NewClient(&redis.Options{Addr: s.redis.Addr()})
	defer rdb.Close()
	lastingKeys, expiringKeys := keyFamilies(s.t)
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
		n, err := rdb.Exists(s.t.Context(), "nightdesk:{index}:runs", "nightdesk:{index}:states", "nightdesk:{index}:digests").Result()
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
