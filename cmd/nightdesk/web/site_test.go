package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/web"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// desk is pages over a queue and a storage.
type desk struct {
	t     *testing.T
	queue *redisqueue.Queue
	store storage.Store
	http.Handler
}

func newDesk(t *testing.T, token string) desk {
	rdb := redistest.InProcess(t)
	d := desk{t: t, queue: redisqueue.New(rdb, redisqueue.DefaultTiming), store: storage.NewDir(t.TempDir())}
	d.Handler = web.New(web.Services{Redis: rdb, Queue: d.queue, Store: d.store, Token: token, Log: zerolog.Nop(),
		Storage: func(context.Context) error { return nil }})
	return d
}

// get returns the body of a page, which must answer with this status.
func (d desk) get(path string, status int) string {
	d.t.Helper()
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, httptest.NewRequestWithContext(d.t.Context(), "GET", path, nil))
	if answer.Code != status {
		d.t.Errorf("%s: %d, not %d", path, answer.Code, status)
	}
	return answer.Body.String()
}

func (d desk) put(key string, body any) {
	d.t.Helper()
	data, isBytes := body.([]byte)
	if text, isText := body.(string); isText {
		data = []byte(text)
	} else if !isBytes {
		var err error
		if data, err = json.Marshal(body); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := d.store.Put(d.t.Context(), key, data); err != nil {
		d.t.Fatal(err)
	}
}

// create adds a run to a batch.
func (d desk) create(batch, id, topic, ref string, tags ...string) {
	d.t.Helper()
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	if _, err := d.queue.OpenBatch(d.t.Context(), batch, now); err != nil {
		d.t.Fatal(err)
	}
	run := topicqueue.Run{ID: id, Batch: batch, Topic: topic, CreatedAt: now, State: topicqueue.RunQueued,
		Labels: topicqueue.Labels{Ref: ref, Tags: tags}, Options: topicqueue.Options{Duration: time.Hour}}
	if _, err := d.queue.Create(d.t.Context(), run); err != nil {
		d.t.Fatal(err)
	}
}

func (d desk) has(path string, want ...string) {
	d.t.Helper()
	body := d.get(path, http.StatusOK)
	for _, w := range want {
		if !strings.Contains(body, w) {
			d.t.Errorf("%s lacks %q:\n%s", path, w, body)
		}
	}
	if strings.Contains(body, "<script") {
		d.t.Errorf("%s has a script:\n%s", path, body)
	}
}

const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`

// TestMorning: the start page is the newest digest; a query shows the topics, ids and tags that it names.
func TestMorning(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.has("/", "Nothing here yet", "nightdesk enqueue")
	d.has("/batches", "There is no batch yet")
	d.create("march 1", "research_a", "Dunes "+hostile, "K-1", "sand")
	d.create("march 1", "research_b", "Tides", "K-2")
	d.has("/", "This morning: march 1", "has not ended", "2 topics: 2 queued")
	d.put(storage.DigestKey("march 1", "json"), digest.Digest{Batch: "march 1", Runs: 2,
		States: map[topicqueue.RunState]int{topicqueue.RunCompleted: 1, topicqueue.RunFailed: 1},
		First: []digest.Item{{Kind: digest.KindFailed, Text: "no source", Do: "Run `nightdesk retry` " + hostile, Count: 1,
			Runs: []digest.Ref{{RunID: "research_b", Topic: "Tides"}}}},
		Reports: []digest.Ref{{RunID: "research_a", Topic: "Dunes " + hostile, State: topicqueue.RunCompleted},
			{RunID: "research_b", Topic: "Tides", State: topicqueue.RunFailed}}})
	d.create("march 2", "research_c", "Rain", "")
	d.has("/", "This morning: march 1", `<a href="./runs/research_b">Tides</a>: no source`, "<code>nightdesk retry</code>",
		`<a href="./runs/research_a">Dunes &lt;script&gt;`)
	d.has("/digests/march%202", "Digest: march 2", `<a href="./../digests/march%201">march 1</a>`)
	d.has("/?q=SAND", "1 of 2 topics have")
	d.has("/?q=k-2", "no source")
	for path, other := range map[string]string{"/?q=SAND": "no source", "/?q=k-2": "runs/research_a"} {
		if body := d.get(path, http.StatusOK); strings.Contains(body, other) {
			t.Errorf("%s has %s:\n%s", path, other, body)
		}
	}
	d.has("/batches/march%201?q="+url.QueryEscape(hostile), "1 of 2 runs", "Dunes &lt;script")
	d.has("/batches/march%201?state=failed", "No run fits")
	d.has("/csv/march%201?q=tides", "research_b,K-2,Tides,,queued,")
	for _, path := range []string{"/batches/march", "/digests/march", "/csv/march", "/runs/research_x",
		"/runs/..%2f..%2fetc", "/a/secrets/x", "/a/cache/..%2f..%2fx", "/a/reports/research_a.md"} {
		d.get(path, http.StatusNotFound)
	}
}

// TestRun: a run is shown from its bundle, with what its sources say where its claims stand.
func TestRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.create("march", "research_q", "Waiting topic", "")
	d.has("/runs/research_q", "<h1>Waiting topic</h1>", "nightdesk watch research_q")

	const text = "Dunes move. They are <b>30 m</b> high. The wind is west."
	at := strings.Index(text, "They")
	ended := time.Date(2026, 3, 1, 21, 4, 0, 0, time.UTC)
	run := topicqueue.Run{ID: "research_r", Batch: "march", Topic: "Dunes", State: topicqueue.RunCompleted,
		Report: storage.ReportKey("research_r"), StartedAt: ended.Add(-3 * time.Minute), EndedAt: ended, PublishedAt: ended}
	report := "# Dunes\n\nThey are 30 m high " + hostile + ".\n"
	page, err := formats.HTML(formats.Report{Markdown: report, Title: "Dunes"})
	if err != nil {
		t.Fatal(err)
	}
	d.put(storage.CacheKey("research_r", "config.json"), run)
	d.put(storage.CacheKey("research_r", "queue.json"), map[string]any{"blocks": []topicqueue.Block{
		{ID: "block_1", Title: "How high?", Status: topicqueue.BlockCompleted}}})
	d.put(storage.ManifestKey("research_r"), map[string]any{})
	d.put(storage.ReportKey("research_r"), report)
	d.put(storage.FormatKey("research_r", "html"), page)
	d.put(storage.CacheKey("research_r", "sources.jsonl"), map[string]any{"source_id": "src_1", "title": "On dunes",
		"published": "2025-06-01", "authors": []string{"A. Sand"}, "sha256": "abc", "cited": true, "url": "javascript:x"})
	claims := ""
	for _, c := range []struct {
		citation, text string
		start, end     int
	}{{"CIT-1-01", "30 m", 12, 37}, {"CIT-1-02", "high", 30, 39}, {"CIT-1-03", "beyond", 30, 4000}} {
		claims += fmt.Sprintf(`{"citation_id":%q,"source_id":"src_1","text":%q,"start":%d,"end":%d}`+"\n",
			c.citation, c.text, c.start, c.end)
	}
	d.put(storage.CacheKey("research_r", "claims.jsonl"), claims)
	d.put(storage.PageKey("research_r", "abc"), text)
	d.has("/runs/research_r", "They are 30 m high &lt;script&gt;", "completed", "3:00", "1 topic block<", "How high?",
		`<a href="research_r/sources/src_1">On dunes</a> <span class="soft">A. Sand, 2025-06-01</span>`,
		`href="../a/reports/research_r.md"`)
	d.has("/runs/research_r/sources/src_1",
		`Dunes move. <mark id="claim-1">They are &lt;b&gt;30 m&lt;/b&gt; high. </mark>`,
		`<a href="#claim-1">CIT-1-02</a> high`)
	if at != 12 || strings.Contains(d.get("/runs/research_r/sources/src_1", 200), "javascript") {
		t.Error("a script is linked, or the test is wrong")
	}
	d.get("/runs/research_r/sources/src_2", http.StatusNotFound)
	d.get("/runs/x%2f..%2fy/sources/src_1", http.StatusNotFound)

	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/a/reports/research_r.md", nil))
	kind, policy := answer.Header().Get("Content-Type"), answer.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(kind, "text/plain") || !strings.HasPrefix(policy, "sandbox") || answer.Body.String() != report {
		t.Errorf("%s as %s under %s", answer.Body, kind, policy)
	}
}

// TestAccess: with a token, people log in and out, programs send it, and nobody else sees anything.
func TestAccess(t *testing.T) {
	t.Parallel()
	const token = "a long random text"
	server := httptest.NewServer(newDesk(t, token))
	defer server.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	ask := func(method, path, form string, header map[string]string, status int) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		if form != "" {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for name, value := range header {
			req.Header.Set(name, value)
		}
		r, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != status {
			t.Errorf("%s %s: %s, %v", method, path, r.Status, err)
		}
		return string(body)
	}
	browser := map[string]string{"Accept": "text/html"}
	page := func(path, want string) {
		t.Helper()
		if body := ask("GET", path, "", browser, 200); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, body)
		}
	}
	page("/batches/x", "<h1>Log in</h1>")
	ask("GET", "/batches", "", nil, http.StatusUnauthorized)
	ask("GET", "/monitoring/", "", nil, http.StatusUnauthorized)
	ask("GET", "/healthz", "", nil, http.StatusOK)
	ask("GET", "/batches", "", map[string]string{"Authorization": "Bearer wrong"}, http.StatusUnauthorized)
	ask("GET", "/batches", "", map[string]string{"Cookie": "nightdesk=99999999999.00"}, http.StatusUnauthorized)
	ask("GET", "/batches", "", map[string]string{"Authorization": "Bearer " + token}, http.StatusOK)
	if body := ask("POST", "/login", "token=guess", browser, 200); !strings.Contains(body, "That is not the token") {
		t.Errorf("a wrong token:\n%s", body)
	}
	ask("POST", "/login", "token="+url.QueryEscape(token), map[string]string{"Sec-Fetch-Site": "cross-site"},
		http.StatusForbidden)
	page("/batches", "<h1>Log in</h1>")
	if body := ask("POST", "/login", "token="+url.QueryEscape(token), browser, 200); !strings.Contains(body, "Log out") {
		t.Errorf("logged in:\n%s", body)
	}
	page("/batches", "There is no batch yet")
	ask("POST", "/logout", "", browser, 200)
	page("/batches", "<h1>Log in</h1>")
}
