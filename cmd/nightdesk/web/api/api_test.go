package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/finding"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web/api"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
	"nightdesk/topicqueue/schedule"
)

// testDesk is an API over a queue and a storage.
type testDesk struct {
	*testing.T
	queue  *redisqueue.Queue
	store  *storage.Dir
	index  *finding.Reports
	served *desk.Desk
	server *httptest.Server
	doc    document
	schema *jsonschema.Compiler
	asked  map[string]bool // operations and statuses that were seen
}

// document is what a test reads of openapi.json.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]operation
}

type operation struct {
	OperationID string
	Responses   map[string]struct {
		Content map[string]json.RawMessage
	}
}

var day = time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)

func newDesk(t *testing.T) *testDesk {
	t.Helper()
	rdb := redistest.InProcess(t)
	d := &testDesk{T: t, queue: redisqueue.New(rdb, redisqueue.DefaultTiming), store: storage.NewDir(t.TempDir()),
		asked: map[string]bool{}}
	d.index = finding.Open(config.Config{DataDir: t.TempDir()}, d.store, zerolog.Nop())
	t.Cleanup(func() { d.index.Close() })
	dispatcher := tasks.NewDispatcher(asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb))
	clock := shared.StartClock(t.Context(), rdb)
	t.Cleanup(func() { _ = clock.Close() })
	cfg, err := config.Load("", false, func(name string) string {
		return map[string]string{"SEARXNG_URL": "http://localhost:1", "LLM_MODEL": "one",
			"LLM_BASE_URL": "http://localhost:1"}[name]
	}, map[string]string{"data_dir": dunes(t)})
	if err != nil {
		t.Fatal(err)
	}
	d.served = &desk.Desk{Settings: desk.Settings{Config: cfg, Console: &view.Console{Log: zerolog.Nop()}}, Store: d.store,
		Desk: &wiring.Desk{Redis: rdb, Queue: d.queue, Dispatcher: dispatcher, Clock: clock}, ReadTopics: d.topicsOf}
	d.server = httptest.NewServer(api.New(api.Services{Desk: d.served, Search: d.index.Search}))
	t.Cleanup(d.server.Close)
	text := d.read(http.MethodGet, "/v1/openapi.json", "", 200)
	if err := json.Unmarshal(text, &d.doc); err != nil || d.doc.OpenAPI != "3.1.0" {
		t.Fatalf("openapi.json: %v\n%.200s", err, text)
	}
	d.schema = jsonschema.NewCompiler()
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err == nil {
		err = d.schema.AddResource("openapi.json", whole)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read returns the body of an answer, which must have this status.
func (d *testDesk) read(method, path, body string, status int) []byte {
	d.Helper()
	req, err := http.NewRequestWithContext(d.Context(), method, d.server.URL+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		d.Errorf("%s %s: %s, %v, want %d\n%.500s", method, path, r.Status, err, status, text)
	}
	if d.schema != nil {
		d.check(method, path, r, text)
	}
	return text
}

// check compares an answer with what the document says of it.
func (d *testDesk) check(method, path string, r *http.Response, text []byte) {
	d.Helper()
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	bare, _, _ := strings.Cut(path, "?")
	for pattern, ops := range d.doc.Paths {
		op, ok := ops[strings.ToLower(method)]
		if !ok || !fits(pattern, bare) {
			continue
		}
		status := fmt.Sprint(r.StatusCode)
		d.asked[op.OperationID+" "+status] = true
		if _, listed := op.Responses[status]; !listed {
			if r.StatusCode < http.StatusBadRequest {
				d.Errorf("%s %s: %s does not say that it may answer %s", method, path, op.OperationID, status)
				return
			}
			status = "default"
		}
		answer := op.Responses[status]
		if _, ok := answer.Content[kind]; !ok && r.StatusCode != http.StatusNoContent {
			d.Errorf("%s %s: %s does not say that it may answer with %q", method, path, op.OperationID, kind)
			return
		}
		if !strings.HasSuffix(kind, "json") {
			return
		}
		escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
		at := "openapi.json#/paths/" + escape(pattern) + "/" + strings.ToLower(method) + "/responses/" + status +
			"/content/" + escape(kind) + "/schema"
		schema, err := d.schema.Compile(at)
		if err != nil {
			d.Errorf("%s: %v", at, err)
			return
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			d.Errorf("%s %s: the answer is not what %s says: %v\n%.800s", method, path, op.OperationID, err, text)
		}
		return
	}
}

// fits reports whether a path is one of a pattern with {names}; a path with no name in its place comes first.
func fits(pattern, path string) bool {
	p, q := strings.Split(pattern, "/"), strings.Split(path, "/")
	return len(p) == len(q) && !slices.ContainsFunc(p, func(part string) bool {
		i := slices.Index(p, part)
		return !strings.HasPrefix(part, "{") && part != q[i]
	})
}

// has reads an answer that must hold these texts.
func (d *testDesk) has(path string, want ...string) []byte {
	d.Helper()
	text := d.read(http.MethodGet, path, "", 200)
	for _, w := range want {
		if !strings.Contains(string(text), w) {
			d.Errorf("%s lacks %s:\n%.1500s", path, w, text)
		}
	}
	return text
}

// problem reads a refusal, which must hold these texts and say what to do.
func (d *testDesk) problem(method, path, body string, status int, want ...string) {
	d.Helper()
	text := d.read(method, path, body, status)
	var p api.Problem
	if err := json.Unmarshal(text, &p); err != nil || p.Status != status || p.Detail == "" || p.Do == "" {
		d.Errorf("%s %s: it is no problem that says what to do: %v\n%s", method, path, err, text)
	}
	for _, w := range want {
		if !strings.Contains(string(text), w) {
			d.Errorf("%s %s lacks %s:\n%s", method, path, w, text)
		}
	}
}

// create adds runs to a batch.
func (d *testDesk) create(batch string, ids ...string) {
	d.Helper()
	if _, err := d.queue.OpenBatch(d.Context(), batch, day); err != nil {
		d.Fatal(err)
	}
	for i, id := range ids {
		run := topicqueue.Run{ID: id, Batch: batch, Topic: "Topic of " + id, State: topicqueue.RunQueued,
			CreatedAt: day.Add(time.Duration(i) * time.Second), Options: topicqueue.Options{Duration: time.Hour},
			Labels: topicqueue.Labels{Ref: "K-" + id, Tags: []string{"sand"}}}
		if _, err := d.queue.Create(d.Context(), run); err != nil {
			d.Fatal(err)
		}
	}
}

func (d *testDesk) put(key, body string) {
	d.Helper()
	if err := d.store.Put(d.Context(), key, []byte(body)); err != nil {
		d.Fatal(err)
	}
}

// publish stores the bundle of a run that the queue does not know.
func (d *testDesk) publish(id string) {
	d.Helper()
	run, err := json.Marshal(topicqueue.Run{ID: id, Batch: "march", Topic: "Dunes", State: topicqueue.RunCompleted,
		CreatedAt: day, EndedAt: day.Add(time.Hour), Report: storage.ReportKey(id)})
	if err != nil {
		d.Fatal(err)
	}
	d.put(storage.CacheKey(id, "config.json"), string(run))
	d.put(storage.MetadataKey(id), `{"topic":"Dunes"}`)
	d.put(storage.ReportKey(id), "# Dunes\n\nSand is blown.\n\n## References\n")
	d.put(storage.FormatKey(id, "html"), "<!DOCTYPE html>")
	d.put(storage.CacheKey(id, "queue.json"), `{"blocks":[{"block_id":"block_1","sub_topic":"Sand","status":"COMPLETED",
		"tool_traces":[]}]}`)
	d.put(storage.CacheKey(id, "claims.jsonl"), `{"claim_id":"CIT-1-01.1","text":"Sand is blown.","quote":"x","other":1}`)
	d.put(storage.CacheKey(id, "sources.jsonl"), `{"source_id":"s1","kind":"document","title":"T","read":true}`)
	d.put(storage.CacheKey(id, "events.jsonl"), `{"seq":1,"run_id":"x","status":"ir_progress","content":{}}
{"seq":2,"run_id":"x","status":"complete","content":{}}
`)
	d.put(storage.CacheKey(id, "token_cost_summary.json"), "{}")
	d.put(storage.ManifestKey(id), "{}")
	if err := d.index.CatchUp(d.Context(), nil); err != nil {
		d.Fatal(err)
	}
}

// TestReading asks for everything that can be read, and compares each answer with the document.
func TestReading(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.has("/v1/runs", `{"runs":[]}`)
	d.has("/v1/batches", `{"batches":[]}`)
	d.has("/v1/schedules", `{"schedules":[],"schedulers":0}`)
	d.create("march", "a", "b", "c")
	d.create("april", "x")
	if _, err := d.queue.AddSchedule(t.Context(), schedule.New(schedule.Spec{Name: "nightly", Cron: "0 1 * * *",
		Topics: "https://key@host/?x=y"}, day)); err != nil {
		t.Fatal(err)
	}
	d.publish("stored")

	d.has("/v1/runs?batch=march&state=queued&tag=sand&q=topic", `"run_id":"a"`, `"run_id":"c"`, `"id":"K-a"`)
	d.has("/v1/runs?state=failed", `{"runs":[]}`)
	d.has("/v1/runs/a", `"topic":"Topic of a"`, `"block_list":[]`, `"dialogue":[]`)
	d.has("/v1/runs/stored", `"state":"completed"`, `"sub_topic":"Sand"`, `"report_key":"reports/stored.md"`)
	d.has("/v1/runs/stored/report", "Sand is blown")
	d.has("/v1/runs/stored/report?format=html", "<!DOCTYPE html>")
	d.has("/v1/runs/stored/claims", `"text":"Sand is blown."`)
	d.has("/v1/runs/stored/sources", `"source_id":"s1"`)
	d.has("/v1/runs/stored/verify", `"problems":[`)
	d.has("/v1/runs/stored/events", "id: 1\ndata: {", "id: 2\n")
	d.has("/v1/batches/march", `"runs":3`, `"states":{"queued":3}`)
	d.has("/v1/batches/march/digest", `"runs":3`)
	d.has("/v1/schedules", `"topics":"https://host/?[redacted]"`, `"next":["`)
	d.has("/v1/schedules/nightly", `"cron":"0 1 * * *"`)
	d.has("/v1/knowledge", `"name":"dunes"`, `"documents":3`)
	d.has("/v1/knowledge/dunes", `"documents":3`)
	d.has("/v1/search?q=blown", `"run_id":"stored"`, `"text":"Sand is blown."`)

	for pattern, ops := range d.doc.Paths {
		for method, op := range ops {
			if method == "get" && !d.asked[op.OperationID+" 200"] && op.OperationID != "document" {
				t.Errorf("%s was not asked", pattern)
			}
		}
	}
}

// TestPages: lists come in pages, each run once, in order.
func TestPages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.create("march", "a", "b", "c")
	d.create("april", "x", "y")
	var seen []string
	for cursor := ""; ; {
		var page desk.RunList
		if err := json.Unmarshal(d.has("/v1/runs?limit=2"+cursor), &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Runs {
			seen = append(seen, r.RunID)
		}
		if page.Next == "" {
			break
		}
		cursor = "&cursor=" + page.Next
	}
	if got := strings.Join(seen, " "); got != "a b c x y" && got != "x y a b c" { // batches of one second
		t.Errorf("runs: %s", got)
	}
	batches := func(cursor string) (page desk.BatchList) {
		t.Helper()
		err := json.Unmarshal(d.has("/v1/batches?limit=1"+cursor), &page)
		if err != nil || len(page.Batches) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		return page
	}
	first := batches("")
	second := batches("&cursor=" + first.Next)
	if first.Next == "" || second.Next != "" || first.Batches[0].Name == second.Batches[0].Name {
		t.Errorf("pages of batches: %+v, %+v", first, second)
	}
}

// TestProblems: what cannot be answered says why and what to do.
func TestProblems(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.create("march", "a")
	for path, parameter := range map[string]string{
		"/v1/runs?limit=0": "limit", "/v1/runs?limit=501": "limit", "/v1/runs?limit=x": "limit",
		"/v1/runs?limit=1&limit=2": "limit", "/v1/runs?state=happy": "state", "/v1/runs?nonsense=1": "nonsense",
		"/v1/runs?cursor=!": "cursor", "/v1/search": "q", "/v1/search?q=%FF": "q",
		"/v1/search?q=" + longName(1001): "q", "/v1/search?q=a&batch=..": "batch",
		"/v1/runs/a/report?format=odt": "format", "/v1/runs/a/events?after=minus": "after",
	} {
		d.problem(http.MethodGet, path, "", 400, parameter)
	}
	for path, want := range map[string]string{
		"/v1/runs?cursor=AAAA":                     "is invalid",
		"/v1/runs?cursor=eyJiIjoiZ29uZSIsImEiOjN9": `the batch \"gone\" of the cursor was deleted`,
		"/v1/search?q=%22":                         "contains no word",
		"/v1/runs?since=yesterday":                 "give a duration",
	} {
		d.problem(http.MethodGet, path, "", 422, want)
	}
	for path, want := range map[string]string{
		"/v1":                       "",
		"/v1/":                      "there is no /v1/",
		"/v1/nonsense":              "there is no /v1/nonsense",
		"/v1/runs/none":             `there is no run and no batch \"none\"`,
		"/v1/runs/no%2Fne":          "",
		"/v1/runs/..%2F..%2Fetc":    "",
		"/v1/runs/none/events":      "there is no run",
		"/v1/runs/a/report":         "there is no report",
		"/v1/runs/a/claims":         "no files in storage",
		"/v1/runs/none/sources":     "there is no run",
		"/v1/runs/a/verify":         "no files in storage",
		"/v1/batches/none":          `there is no batch \"none\"`,
		"/v1/batches/none/digest":   "there is no batch",
		"/v1/runs?batch=none":       "there is no batch",
		"/v1/schedules/none":        "there is no schedule",
		"/v1/knowledge/none":        "there is no knowledge base",
		"/v1/schedules/no%00ne":     "name",
		"/v1/batches/.hidden":       "batch",
		"/v1/runs/" + longName(101): "run_id",
	} {
		if want == "" {
			d.read(http.MethodGet, path, "", 404)
			continue
		}
		d.problem(http.MethodGet, path, "", 404, want)
	}
	d.problem(http.MethodDelete, "/v1/runs/a", "", 405, "Use GET")
	d.problem(http.MethodPut, "/v1/search", "", 405, "Use GET")
}

func longName(n int) string { return strings.Repeat("a", n) }

// streamed is an event as a client gets it.
type streamed struct{ id, data string }

// follow reads a stream until it ends, or until enough says so.
func (d *testDesk) follow(path, last string, enough func(streamed) bool) (out []streamed, status int) {
	d.Helper()
	ctx, cancel := context.WithCancel(d.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.server.URL+path, nil)
	if err != nil {
		d.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		d.check(http.MethodGet, path, r, nil)
	}
	var e streamed
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e.id != "" {
				out = append(out, e)
				if enough != nil && enough(e) {
					return out, r.StatusCode
				}
			}
			e = streamed{}
		}
	}
	return out, r.StatusCode
}

// TestEvents: a stream begins where the client was, goes on with what comes, and ends with the run.
func TestEvents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.create("march", "a")
	begun, err := d.queue.Begin(t.Context(), "a", redisqueue.UnitPlan, 1)
	if err != nil {
		t.Fatal(err)
	}
	emit := func(n int) {
		t.Helper()
		if err := d.queue.Emit(t.Context(), begun.Lease, topicqueue.NewEvent("", topicqueue.StatusProgress,
			map[string]int{"n": n})); err != nil {
			t.Fatal(err)
		}
	}
	emit(1)
	emit(2)
	seen, status := d.follow("/v1/runs/a/events", "", func(e streamed) bool {
		if strings.Contains(e.data, `"n":2`) {
			emit(3) // while the client reads
		}
		return strings.Contains(e.data, `"n":3`)
	})
	if status != 200 || len(seen) < 3 {
		t.Fatalf("%d, %v", status, seen)
	}
	for i, e := range seen {
		if e.id != fmt.Sprint(i+1) {
			t.Errorf("event %d has the number %s", i+1, e.id)
		}
	}
	if _, err := d.queue.Cancel(t.Context(), "a", "enough", false); err != nil {
		t.Fatal(err)
	}
	rest, _ := d.follow("/v1/runs/a/events", seen[1].id, nil)
	if len(rest) < 2 || rest[0].id != seen[2].id || !strings.Contains(rest[len(rest)-1].data, `"status":"complete"`) {
		t.Fatalf("after %s: %v", seen[1].id, rest)
	}
	last := rest[len(rest)-1].id
	if again, status := d.follow("/v1/runs/a/events", last, nil); status != http.StatusNoContent || len(again) > 0 {
		t.Errorf("after the end: %d, %v", status, again)
	}
	if again, status := d.follow("/v1/runs/a/events?after="+last, "", nil); status != http.StatusNoContent {
		t.Errorf("after the end, by a parameter: %d, %v", status, again)
	}
	gap, _ := d.follow("/v1/runs/a/events?after=9999", "", nil)
	if len(gap) != 1 || gap[0].id != last || !strings.Contains(gap[0].data, `"status":"gap"`) {
		t.Errorf("from beyond the end: %v", gap)
	}
	d.publish("stored")
	if seen, _ := d.follow("/v1/runs/stored/events", "1", nil); len(seen) != 1 || seen[0].id != "2" {
		t.Errorf("from storage: %v", seen)
	}
}

// TestEvents_ManyClients: clients that come and go while events are sent miss none and get none twice.
func TestEvents_ManyClients(t *testing.T) {
	t.Parallel()
	const clients, events = 50, 200
	d := newDesk(t)
	d.create("march", "a")
	begun, err := d.queue.Begin(t.Context(), "a", redisqueue.UnitPlan, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := make([][]streamed, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for last, ended := "", false; !ended; {
				part, _ := d.follow("/v1/runs/a/events", last, func(e streamed) bool {
					ended = strings.Contains(e.data, `"status":"complete"`)
					n, _ := strconv.Atoi(e.id)
					return ended || (n+i)%17 == 0 // goes, and comes back
				})
				if seen[i] = append(seen[i], part...); len(part) > 0 {
					last = part[len(part)-1].id
				}
			}
		})
	}
	for n := range events {
		if err := d.queue.Emit(t.Context(), begun.Lease, topicqueue.NewEvent("", topicqueue.StatusProgress,
			map[string]int{"n": n})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.queue.Cancel(t.Context(), "a", "enough", false); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	for i, got := range seen {
		if len(got) < events {
			t.Errorf("client %d has %d events", i, len(got))
		}
		for n, e := range got {
			if e.id != strconv.Itoa(n+1) {
				t.Fatalf("client %d: event %d has the number %s", i, n+1, e.id)
			}
		}
	}
}

// dunes returns knowledge bases, of which there is one with three documents.
func dunes(t *testing.T) string {
	var cfg config.Config
	cfg.DataDir, cfg.Embedding.Model = t.TempDir(), config.NoModel
	all := bases.New(cfg, &view.Console{Out: io.Discard, Err: io.Discard})
	documents := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		text := "# Dunes " + name + "\n\nSand is blown by the wind into dunes of kind " + name + ".\n"
		if err := os.WriteFile(filepath.Join(documents, name+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all.Ingest(t.Context(), "dunes", []string{documents}); err != nil {
		t.Fatal(err)
	}
	return cfg.DataDir
}
