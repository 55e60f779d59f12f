package web_test

import (
	"context"
	"fmt"
	"iter"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/health"
	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestMetrics counts runs, models and queues; hundreds of private queues make no more series than one.
func TestMetrics(t *testing.T) {
	t.Parallel()
	rdb, ctx := redistest.Server(t), t.Context()
	rdb.HSet(ctx, "nightdesk:{index}:stats", "state:researching", 4, "ended:partial", 2, "deadline_missed", 1, "lapses", 3, "tool_asked:web_search", 30, "tool_shared:web_search", 12,
		"calls:note:m\xff:7b", 10, "tokens_in:note:m\xff:7b", 1000, "cost_usd:note:m\xff:7b", "0.25")
	client := asynq.NewClientFromRedisClient(rdb)
	for i := range 300 {
		queue := fmt.Sprintf("planning-run_%d", i)
		if i == 0 {
			queue = "somebody-elses"
		}
		if _, err := client.Enqueue(asynq.NewTask("run:plan", nil), asynq.Queue(queue)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Enqueue(asynq.NewTask("run:plan", nil), asynq.Queue("planning-high")); err != nil {
		t.Fatal(err)
	}
	handler := web.New(web.Services{Desk: deskOf(rdb, redisqueue.New(rdb, redisqueue.DefaultTiming), nil),
		Health: sound()})
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/metrics", nil))
	body := answer.Body.String()
	for _, want := range []string{
		`nightdesk_runs{state="researching"} 4`, `nightdesk_runs{state="queued"} 0`, `nightdesk_runs_ended_total{state="partial"} 2`,
		`nightdesk_tool_calls_total{result="made",tool="web_search"} 18`, `nightdesk_tool_calls_total{result="shared",tool="web_search"} 12`,
		"nightdesk_deadlines_missed_total 1", "nightdesk_lease_lapses_total 3",
		`nightdesk_model_calls_total{model="m?:7b",role="note"} 10`, `nightdesk_model_tokens_total{direction="in",model="m?:7b",role="note"} 1000`,
		`nightdesk_model_cost_usd_total{model="m?:7b",role="note"} 0.25`,
		`nightdesk_queue_tasks{lane="high",stage="planning",state="pending"} 1`,
		`nightdesk_queue_paused{lane="high",stage="planning"} 0`, "nightdesk_redis_up 1",
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(body, "somebody") || strings.Contains(body, "run_1") {
		t.Error("names of foreign or private queues are labels")
	}
	if t.Failed() {
		t.Log(body)
	}
}

// TestHealth_Storage: what is wrong with the storage is said.
func TestHealth_Storage(t *testing.T) {
	t.Parallel()
	rdb := redistest.InProcess(t)
	broken := []health.Check{{Name: "redis", Result: health.OK},
		{Name: "storage", Result: health.Failed, Text: "no bucket reports", Stops: true, Down: true}}
	handler := web.New(web.Services{Desk: deskOf(rdb, redisqueue.New(rdb, redisqueue.DefaultTiming), nil),
		Health: func(context.Context, health.Scope) iter.Seq[health.Check] { return slices.Values(broken) }})
	ask := func() (int, string) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/healthz", nil))
		return answer.Code, strings.TrimSpace(answer.Body.String())
	}
	if code, body := ask(); code != 503 || body != `{"status":"failing","redis":"ok","storage":"no bucket reports"}` {
		t.Errorf("%d %s", code, body)
	}
	broken = nil
	if code, body := ask(); code != 200 || body != `{"status":"ok","redis":"ok","storage":"ok"}` {
		t.Errorf("%d %s", code, body)
	}
}

// TestHealth_Unsent: what could not be delivered is counted, and sent again by a button.
func TestHealth_Unsent(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	client, inspector := asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb)
	const queue = "notifying-abcdefghij"
	if _, err := client.Enqueue(asynq.NewTask("notify", nil), asynq.Queue(queue)); err != nil {
		t.Fatal(err)
	}
	if n, err := inspector.ArchiveAllPendingTasks(queue); err != nil || n != 1 {
		t.Fatalf("%d archived, %v", n, err)
	}
	handler := web.New(web.Services{Desk: deskOf(rdb, redisqueue.New(rdb, redisqueue.DefaultTiming), nil), Health: sound()})
	for _, ask := range []struct{ method, path, has, lacks string }{
		{"GET", "/health", "Send the notifications", "to be sent now"},
		{"POST", "/health", "1 notification to be sent now", "Send the notifications"},
		{"GET", "/health", "Nothing keeps the queue from being worked", "Send the notifications"},
	} {
		answer := httptest.NewRecorder()
		asked := httptest.NewRequestWithContext(t.Context(), ask.method, "http://localhost"+ask.path, nil)
		handler.ServeHTTP(answer, asked)
		body := answer.Body.String()
		if answer.Code != 200 || !strings.Contains(body, ask.has) || strings.Contains(body, ask.lacks) {
			t.Errorf("%s %s: %d, wanted is %q without %q:\n%s", ask.method, ask.path, answer.Code, ask.has, ask.lacks, body)
		}
	}
}

// deskOf returns a desk over a queue and a storage.
func deskOf(rdb redis.UniversalClient, queue *redisqueue.Queue, store storage.Store) *desk.Desk {
	return &desk.Desk{Settings: desk.Settings{Console: &view.Console{Log: zerolog.Nop()}}, Store: store,
		Desk: &wiring.Desk{Redis: rdb, Queue: queue}}
}

// sound returns the checks of a desk without problems.
func sound() func(context.Context, health.Scope) iter.Seq[health.Check] {
	return func(context.Context, health.Scope) iter.Seq[health.Check] {
		return slices.Values([]health.Check{{Name: "redis", Result: health.OK}, {Name: "storage", Result: health.OK}})
	}
}

// TestReady: what keeps the queue from being worked is named by both, and only /readyz fails for it.
func TestReady(t *testing.T) {
	t.Parallel()
	rdb := redistest.InProcess(t)
	var troubles []health.Check
	handler := web.New(web.Services{Desk: deskOf(rdb, redisqueue.New(rdb, redisqueue.DefaultTiming), nil),
		Health: func(context.Context, health.Scope) iter.Seq[health.Check] { return slices.Values(troubles) }})
	ask := func(path string, code int, want string) {
		t.Helper()
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+path, nil))
		if body := strings.TrimSpace(answer.Body.String()); answer.Code != code || body != want {
			t.Errorf("%s: %d %s", path, answer.Code, body)
		}
	}
	troubles = []health.Check{{Name: "workers", Result: health.Note, Text: "no worker is running", Hint: "Start one.", Stops: true}}
	named := `,"redis":"ok","storage":"ok","troubles":[{"check":"workers","result":"note","text":"no worker is running","hint":"Start one.","stops":true}]}`
	ask("/healthz", 200, `{"status":"ok"`+named)
	ask("/readyz", 503, `{"status":"failing"`+named)
	troubles = nil
	ask("/readyz", 200, `{"status":"ok","redis":"ok","storage":"ok"}`)
}

// TestManual: each topic of the manual has a page, to which the list and other topics link.
func TestManual(t *testing.T) {
	t.Parallel()
	rdb := redistest.InProcess(t)
	handler := web.New(web.Services{Desk: deskOf(rdb, redisqueue.New(rdb, redisqueue.DefaultTiming), nil)})
	get := func(path string, code int) string {
		t.Helper()
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+path, nil))
		if answer.Code != code {
			t.Errorf("%s: %d, not %d", path, answer.Code, code)
		}
		return answer.Body.String()
	}
	list := get("/manual/", 200)
	for _, topic := range manual.Topics() {
		link := `<a href="` + topic.Name + `"><code>nightdesk help ` + topic.Name + "</code></a>"
		if !strings.Contains(list, link) {
			t.Errorf("the list has no link to %s", topic.Name)
		}
		page := get("/manual/"+topic.Name, 200)
		back := `<a href="./"><code>nightdesk help</code></a>`
		if !strings.Contains(page, "<h1>"+topic.Title+": ") || !strings.Contains(page, back) {
			t.Errorf("the page of %s lacks its title or the way back:\n%.300s", topic.Name, page)
		}
	}
	link := `<a href="lists"><code>nightdesk help lists</code></a>`
	if !strings.Contains(get("/manual/schedules", 200), link) {
		t.Error("a topic does not link another one")
	}
	get("/manual/nonsense", 404)
}

// TestAPI_Access: the API needs the token or, without one, the own name of the machine; pages of other sites have none.
func TestAPI_Access(t *testing.T) {
	t.Parallel()
	ask := func(d testDesk, host, site, token string, status int) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/runs/none/cancel", strings.NewReader("{}"))
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Sec-Fetch-Site", site)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer := httptest.NewRecorder()
		d.ServeHTTP(answer, r)
		if answer.Code != status || answer.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("at %s from a page of %s: %d %s, want %d", host, site, answer.Code, answer.Body, status)
		}
	}
	free, guarded := newDesk(t, ""), newDesk(t, "secret")
	for _, host := range []string{"localhost:8080", "127.0.0.1:8080", "[::1]:8080", "127.0.0.1"} {
		ask(free, host, "none", "", 404) // there is no such run
	}
	ask(free, "rebound.example:8080", "same-origin", "", 403)
	ask(free, "localhost:8080", "cross-site", "", 403)
	ask(guarded, "desk.example", "none", "secret", 404)
	ask(guarded, "desk.example", "none", "", 401)
	ask(guarded, "desk.example", "none", "wrong", 401)
}
