package web_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/desk/finding"
	"nightdesk/cmd/nightdesk/web"
	"nightdesk/config"
	"nightdesk/jobs/nights"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/narration"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/reporting/formats/pdf"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
	"nightdesk/topicqueue/schedule"
)

// testDesk is pages over a queue and a storage.
type testDesk struct {
	t     *testing.T
	rdb   *redis.Client
	queue *redisqueue.Queue
	store storage.Store
	index *finding.Reports
	http.Handler
}

// newDesk returns a desk with a token for everything and the same with "-read" for reading; "": without.
func newDesk(t *testing.T, token string) testDesk {
	readToken := ""
	if token != "" {
		readToken = token + "-read"
	}
	rdb := redistest.InProcess(t)
	store := storage.NewDir(t.TempDir())
	index := finding.Open(config.Config{DataDir: t.TempDir()}, store, zerolog.Nop())
	t.Cleanup(func() { index.Close() })
	d := testDesk{t: t, rdb: rdb, queue: redisqueue.New(rdb, redisqueue.DefaultTiming), store: store, index: index}
	dispatcher := tasks.NewDispatcher(asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb))
	clock := shared.StartClock(t.Context(), rdb)
	t.Cleanup(func() { _ = clock.Close() })
	served := deskOf(rdb, d.queue, store)
	served.Dispatcher, served.Clock, served.Config.DataDir = dispatcher, clock, t.TempDir()
	served.ReadTopics = func(context.Context, schedule.Spec, time.Time, time.Time) (nights.Snapshot, error) {
		topics := []nights.Topic{{Topic: "bees"}, {Topic: "ants"}}
		return nights.Snapshot{Options: make([]topicqueue.Options, 1), Topics: topics}, nil
	}
	d.Handler = web.New(web.Services{Desk: served, Token: token, ReadToken: readToken, Search: index.Search,
		Health: sound()})
	return d
}

// get returns the body of a page, which must answer with this status.
func (d testDesk) get(path string, status int) string {
	d.t.Helper()
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, httptest.NewRequestWithContext(d.t.Context(), "GET", "http://localhost"+path, nil))
	if answer.Code != status {
		d.t.Errorf("%s: %d, not %d", path, answer.Code, status)
	}
	return answer.Body.String()
}

func (d testDesk) put(key string, body any) {
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
func (d testDesk) create(batch, id, topic, ref string, tags ...string) {
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

func (d testDesk) has(path string, want ...string) {
	d.t.Helper()
	body := d.get(path, http.StatusOK)
	for _, w := range want {
		if !strings.Contains(body, w) {
			d.t.Errorf("%s lacks %q:\n%s", path, w, body)
		}
	}
	if strings.Contains(ownScript.ReplaceAllString(body, ""), "<script") {
		d.t.Errorf("%s has a script:\n%s", path, body)
	}
}

// ownScript is the only script of a page.
var ownScript = regexp.MustCompile(`<script src="(?:\./)?(?:\.\./)*site\.js" defer></script>`)

const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`

// TestMorning: the start page is the newest digest.
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
	d.has("/", "This morning: march 1", `<a href="runs/research_b" data-run="research_b">Tides</a>: no source`,
		"<code>nightdesk retry</code>",
		`<a href="runs/research_a" data-run="research_a">Dunes &lt;script&gt;`)
	d.has("/", `name="run" value="research_b"><button name="do" value="retry">Try it again</button>`)
	d.has("/digests/march%202", "Digest: march 2", `<a href="../digests/march%201">march 1</a>`)
	d.has("/batches/march%201?tag=sand", "1 of 2 runs", `<option>sand</option>`, "?tag=sand")
	d.has("/batches/march%201?id=K-2", "1 of 2 runs", ">Tides</a>")
	d.has("/csv/march%201?id=k-2", "research_b,K-2,Tides,,queued,")
	d.has("/batches/march%201?q="+url.QueryEscape(hostile), "1 of 2 runs", "Dunes &lt;script")
	d.has("/batches/march%201?state=failed", "No run fits")
	d.has("/csv/march%201?q=tides", "research_b,K-2,Tides,,queued,")
	for _, path := range []string{"/batches/march", "/digests/march", "/csv/march", "/runs/research_x",
		"/runs/..%2f..%2fetc", "/a/secrets/x", "/a/cache/..%2f..%2fx", "/a/reports/research_a.md"} {
		d.get(path, http.StatusNotFound)
	}
}

// dunesText is the name of the stored text of the source of TestRun.
var dunesText = strings.Repeat("ab", 32)

// timelineEvents are those of a run of 100 seconds.
func timelineEvents(begin time.Time) string {
	var out strings.Builder
	for i, e := range []struct {
		second, wave, lane int
		event              topicqueue.Event
	}{
		{0, 0, 0, topicqueue.StepEvent(topicqueue.StepStartSearchBackground, "")},
		{20, 1, 1, topicqueue.NewEvent("", topicqueue.StatusThought, topicqueue.Thought{QuestionID: 1, Thought: "Ask."})},
		{25, 1, 1, topicqueue.NewEvent("", topicqueue.StatusReference, topicqueue.Reference{QuestionID: 1,
			References: map[string]string{"dunes.md": "On dunes"}}).With(topicqueue.About{Tool: "kb", Query: "dunes"})},
		{30, 1, 1, topicqueue.NewEvent("", topicqueue.StatusQuestionDone,
			topicqueue.QuestionDone{QuestionID: 1, Status: "done"})},
		{90, 2, 0, topicqueue.StepEvent(topicqueue.StepFailAuthor, hostile)},
		{100, 2, 0, topicqueue.NewEvent("", topicqueue.StatusComplete, topicqueue.Complete{State: topicqueue.RunFailed})},
	} {
		e.event.Seq, e.event.Time = int64(i+1), begin.Add(time.Duration(e.second)*time.Second)
		e.event.Placement = topicqueue.Placement{Wave: e.wave, Lane: e.lane, Step: i}
		line, _ := json.Marshal(e.event)
		fmt.Fprintf(&out, "%s\n", line)
	}
	return out.String()
}

// TestRun: a run is shown from its bundle, with what its sources say where its claims stand.
func TestRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	d.create("march", "research_q", "Waiting topic", "")
	d.has("/runs/research_q", "<h1>Waiting topic</h1>", "nightdesk watch research_q", "data-live")

	const text = "Dunes move. They are <b>30 m</b> high. The wind is west."
	at := strings.Index(text, "They")
	ended := time.Date(2026, 3, 1, 21, 4, 0, 0, time.UTC)
	run := topicqueue.Run{ID: "research_r", Batch: "march", Topic: "Dunes", State: topicqueue.RunCompleted,
		Report: storage.ReportKey("research_r"), StartedAt: ended.Add(-3 * time.Minute), EndedAt: ended, PublishedAt: ended}
	markdown := "# Dunes\n\nThey are 30 m high " + hostile + ". [[CIT-1-01](#ref-cit-1-01)]\n\n## References\n\n" +
		"<a id=\"ref-cit-1-01\"></a> [CIT-1-01] [dunes.md](../cache/research_r/pages/" + dunesText + ".txt)\n"
	page, err := formats.HTML(formats.Report{Tree: report.Read(markdown), Title: "Dunes"})
	if err != nil {
		t.Fatal(err)
	}
	d.put(storage.CacheKey("research_r", "config.json"), run)
	d.put(storage.CacheKey("research_r", "queue.json"), map[string]any{"blocks": []topicqueue.Block{
		{ID: "block_1", Title: "How high?", Status: topicqueue.BlockCompleted}}})
	files := []storage.File{{Key: storage.ReportKey("research_r")}, {Key: storage.CacheKey("research_r", "claims.jsonl")}}
	d.put(storage.ManifestKey("research_r"), storage.Manifest{RunID: "research_r", Files: files})
	d.put(storage.ReportKey("research_r"), markdown)
	d.put(storage.FormatKey("research_r", "html"), page)
	d.put(storage.CacheKey("research_r", "sources.jsonl"), map[string]any{"source_id": "src_1", "title": "On dunes",
		"date": "2025-06-01", "authors": []string{"A. Sand"}, "sha256": dunesText, "cited": true, "url": "javascript:x"})
	claims := ""
	for _, c := range []struct {
		citation, text string
		start, end     int
	}{{"CIT-1-01", "30 m", 12, 37}, {"CIT-1-02", "high", 30, 39}, {"CIT-1-03", "beyond", 30, 4000}} {
		claims += fmt.Sprintf(`{"citation_id":%q,"source_id":"src_1","text":%q,"start":%d,"end":%d}`+"\n",
			c.citation, c.text, c.start, c.end)
	}
	d.put(storage.CacheKey("research_r", "claims.jsonl"), claims)
	d.put(storage.PageKey("research_r", dunesText), text)
	d.has("/runs/research_r", "They are 30 m high &lt;script&gt;", "completed", "3:00", "1 topic block<", "How high?",
		`<a href="research_r/sources/src_1">On dunes</a> <span class="soft">A. Sand, 2025-06-01</span>`,
		`href="../a/reports/research_r.md"`, `href="./research_r/sources/src_1?citation=CIT-1-01#here"`,
		`<a href="./research_r/sources/src_1">dunes.md</a>`)
	d.has("/runs/research_r/sources/src_1?citation=CIT-1-02",
		`/<mark id="here">b&gt; high. </mark>`, `<a href="#here">CIT-1-02</a> high`)
	d.put(storage.CacheKey("research_r", "events.jsonl"), timelineEvents(ended))
	d.has("/runs/research_r", `<a href="./research_r/timeline">`)
	d.has("/runs/research_r/timeline", "How high? <span", "0:20 to 0:30", `x="200" width="100"`, `class="mark" x="250"`,
		"1:40 in all", "Report <span", "the report could not be written: &lt;script&gt;", "kb &#34;dunes&#34;: 1 source")
	d.has("/runs/research_r/sources/src_1",
		`Dunes move. <mark id="claim-1">They are &lt;b&gt;30 m&lt;/b&gt; high. </mark>`,
		`<a href="#claim-1">CIT-1-02</a> high`)
	d.downloads(claims)
	d.spoken()
	if at != 12 || strings.Contains(d.get("/runs/research_r/sources/src_1", 200), "javascript") {
		t.Error("a script is linked, or the test is wrong")
	}
	d.get("/runs/research_r/sources/src_2", http.StatusNotFound)
	d.get("/runs/research_r/checks", http.StatusNotFound)
	d.checked()
	d.get("/runs/x%2f..%2fy/sources/src_1", http.StatusNotFound)

	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET",
		"http://localhost/a/reports/research_r.md", nil))
	kind, policy := answer.Header().Get("Content-Type"), answer.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(kind, "text/plain") || !strings.HasPrefix(policy, "sandbox") || answer.Body.String() != markdown {
		t.Errorf("%s as %s under %s", answer.Body, kind, policy)
	}
}

// downloads takes what the page of TestRun offers.
func (d testDesk) downloads(claims string) {
	d.t.Helper()
	d.has("/runs/research_r", `<a href="research_r/as/bib" download>BibTeX</a>`)
	d.has("/runs/research_r/as/bib", "@misc{src_1,", "date = {2025-06-01}", "author = {{A. Sand}}")
	d.get("/runs/research_r/as/doc", http.StatusNotFound)
	d.get("/runs/research_x/as/bib", http.StatusNotFound)
	d.get("/runs/research_x/as/pdf", http.StatusNotFound)
	d.has("/runs/research_r", `<a href="research_r/zip" download>everything</a>`)
	body := d.get("/runs/research_r/zip", http.StatusOK)
	archive, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if err != nil {
		d.t.Fatal(err)
	}
	if got, err := fs.ReadFile(archive, "cache/research_r/claims.jsonl"); err != nil || string(got) != claims {
		d.t.Errorf("the archive has %v, and %q: %v", archive.File, got, err)
	}
	d.get("/runs/research_x/zip", http.StatusNotFound)
	if _, err := pdf.Find(); err == nil {
		d.has("/runs/research_r", `<a href="research_r/as/pdf" download>PDF</a>`)
		if body := d.get("/runs/research_r/as/pdf", http.StatusOK); !strings.HasPrefix(body, "%PDF-") {
			d.t.Errorf("the PDF of the report is %.100q", body)
		}
	}
}

// spoken reads the report of TestRun aloud, and looks at its page.
func (d testDesk) spoken() {
	d.t.Helper()
	if body := d.get("/runs/research_r", http.StatusOK); strings.Contains(body, "<audio") {
		d.t.Error("there is a player and no sound")
	}
	const sound = "ID3 a sound"
	file, transcript := storage.FormatKey("research_r", "mp3"), storage.FormatKey("research_r", "vtt")
	d.put(file, sound)
	d.put(transcript, string(narration.Transcript("Dunes", []narration.Cue{{End: time.Second, Speaker: "A", Text: "Dunes"},
		{Start: 61500 * time.Millisecond, End: 62 * time.Second, Speaker: "B", Text: hostile}})))
	d.put(storage.MetadataKey("research_r"),
		map[string]any{"audio": topicqueue.Narration{File: file, Transcript: transcript}})
	d.has("/runs/research_r", `<audio controls preload="none" src="../a/reports/research_r.mp3">`,
		`<a href="../a/reports/research_r.mp3#t=61.5">1:01</a> <strong>B:</strong> &lt;script&gt;`,
		`<a href="../a/reports/research_r.vtt" download>transcript</a>`)
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(d.t.Context(), "GET", "http://localhost/a/"+file, nil)
	request.Header.Set("Range", "bytes=4-4")
	d.ServeHTTP(answer, request)
	kind, policy := answer.Header().Get("Content-Type"), answer.Header().Get("Content-Security-Policy")
	if answer.Code != http.StatusPartialContent || answer.Body.String() != "a" || kind != "audio/mpeg" ||
		!strings.Contains(policy, "default-src 'none'") {
		d.t.Errorf("%d: %q as %s under %s", answer.Code, answer.Body, kind, policy)
	}
	d.put(storage.MetadataKey("research_r"), map[string]any{"audio": topicqueue.Narration{Problem: "no engine"}})
	d.has("/runs/research_r", "<dt>Not read aloud</dt><dd>no engine</dd>")
}

// checked adds what was checked to the run of TestRun, and looks at its pages.
func (d testDesk) checked() {
	d.t.Helper()
	span := &support.Span{Source: "src_1", Start: 12, End: 30}
	d.put(storage.CacheKey("research_r", "verification.json"), checking.Verification{Status: "verified",
		Sentences: []checking.Sentence{
			{Text: "Dunes are high.", Citations: []string{"CIT-1-02"}, Verdict: support.Supported, Source: "src_1", Start: 12,
				End: 30, Judge: support.Judged{Judgement: support.JudgedSupported, Words: "They are", Span: span}},
			{Text: "They are " + hostile, Verdict: support.Unverified, Judge: support.Judged{Missing: support.NoAnswer}},
			{Text: "So stay away.", Verdict: support.Unverified, Source: "src_1", Start: 12, End: 20,
				Judge: support.Judged{Judgement: support.JudgedConclusion, Words: "They are", Span: span}},
			{Text: "Lost", Source: "src_1", Start: 90, End: 10_000},
		}})
	d.has("/runs/research_r", `<a href="./research_r/checks">`)
	d.has("/runs/research_r/checks", "Not confirmed</span>: 2", "Conclusions of the report</span>: 1",
		"Confirmed</span>: 1", `<a href="./sources/src_1?sentence=1#here">Dunes are high.</a>`,
		"the model gave no answer about it",
		"They are &lt;script&gt;")
	d.has("/runs/research_r/sources/src_1?sentence=1", `Dunes move. <mark id="here">They are &lt;b&gt;30 m&lt;/</mark>`,
		"<blockquote>Dunes are high.</blockquote>", `<a href="../../research_r/checks">`)
	d.has("/runs/research_r/sources/src_1?citation=CIT-1-02", "<blockquote>Dunes are high.</blockquote>",
		`<span class="v-ok">Confirmed</span>: <span class="do">“They are”</span>`)
	for _, n := range []string{"0", "2", "4", "9"} {
		d.get("/runs/research_r/sources/src_1?sentence="+n, http.StatusNotFound)
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
	page("/batches/x", `type="password"`)
	ask("GET", "/batches", "", nil, http.StatusUnauthorized)
	ask("GET", "/monitoring/", "", nil, http.StatusUnauthorized)
	ask("GET", "/healthz", "", nil, http.StatusOK)
	ask("GET", "/batches", "", map[string]string{"Authorization": "Bearer wrong"}, http.StatusUnauthorized)
	ask("GET", "/batches", "", map[string]string{"Cookie": "nightdesk=99999999999.00"}, http.StatusUnauthorized)
	ask("GET", "/batches", "", map[string]string{"Authorization": "Bearer " + token}, http.StatusOK)
	if body := ask("POST", "/login", "token=guess", browser, 200); !strings.Contains(body, `role="alert"`) {
		t.Errorf("a wrong token:\n%s", body)
	}
	ask("POST", "/login", "token="+url.QueryEscape(token), map[string]string{"Sec-Fetch-Site": "cross-site"},
		http.StatusForbidden)
	page("/batches", `type="password"`)
	if body := ask("POST", "/login", "token="+url.QueryEscape(token), browser, 200); strings.Contains(body, `type="password"`) {
		t.Errorf("logged in:\n%s", body)
	}
	page("/batches", `action="./logout"`)
	ask("POST", "/logout", "", browser, 200)
	page("/batches", `type="password"`)
}
