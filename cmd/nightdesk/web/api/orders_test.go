package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// TestOrders: topics are enqueued; with a key, once.
func TestOrders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	send := func(key, body string, status int) (done desk.Enqueued) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.server.URL+"/v1/batches",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
		if key == "empty" {
			req.Header.Set("Idempotency-Key", "")
		} else if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != status {
			t.Errorf("%s: %s, %v, want %d\n%s", body, r.Status, err, status, text)
		}
		d.check(http.MethodPost, "/v1/batches", r, text)
		_ = json.Unmarshal(text, &done) // or it is a problem
		return done
	}
	const order = `{"topics":[{"topic":"Dunes","preset":"quick"},{"topic":"Tides","id":"K1"}]}`
	first, again := send("one", order, 200), send("one", order, 200)
	if len(first.Runs) != 2 || !*first.Runs[0].Created || *again.Runs[1].Created || first.Batch != again.Batch {
		t.Errorf("with a key: %+v, then %+v", first, again)
	}
	send("one", `{"topics":[{"topic":"Other"}]}`, 409)
	if other := send("two", order, 200); other.Batch == first.Batch || !*other.Runs[0].Created {
		t.Errorf("with another key: %+v", other)
	}
	if named := send("", `{"batch":"tonight","topics":[{"topic":"Dunes"}]}`, 200); named.Batch != "tonight" {
		t.Errorf("with a name: %+v", named)
	}
	send("", `{"batch":"near","topics":[{"topic":"How do heat pumps work in a cold winter?"}]}`, 200)
	near := send("", `{"batch":"near","topics":[{"topic":"How do heat pumps work in the cold winter?"}]}`, 200)
	if len(near.Notes) == 0 || near.Created != 1 {
		t.Errorf("a topic that is nearly the same as one of the batch: %+v", near)
	}
	send("three", `{"batch":"tonight","topics":[{"topic":"Dunes"}]}`, 422)
	send("", `{"topics":[]}`, 422)
	send("", `{"topics":[{"topic":""}]}`, 422)
	send("no spaces", order, 400)
	send("empty", order, 400)
	for _, body := range []string{`{`, `[]`, `{"topics":1}`, `{"topics":[{}]}`, `null`,
		`{"topics":[{"topic":"x","plan":"/etc/passwd"}]}`, `{"topics":[{"topic":"x"}]} {}`} {
		send("", body, 400)
	}
	send("", `{"topics":[{"topic":"`+strings.Repeat("a", 17<<20)+`"}]}`, 413)
}

// TestControl: runs are ended, paused, resumed, tried again and answered; what is not possible says why.
func TestControl(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.create("march", "a", "b")
	post := func(path, body string, want ...string) {
		t.Helper()
		text := d.read(http.MethodPost, path, body, 200)
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s lacks %s:\n%s", path, w, text)
			}
		}
	}
	post("/v1/runs/a/pause", `{}`, `"paused":true`)
	post("/v1/runs/a/resume", `{}`, `"state":"queued"`)
	d.problem(http.MethodPost, "/v1/runs/a/resume", `{}`, 409, "it is not paused")
	d.problem(http.MethodPost, "/v1/runs/a/retry", `{}`, 409, "it has not ended: its state is queued")
	d.problem(http.MethodPost, "/v1/runs/a/answer", `{"text":"yes"}`, 409, "it has asked nothing")
	d.problem(http.MethodPost, "/v1/runs/a/answer", `{"text":"`+strings.Repeat("a", 9000)+`"}`, 422, "at most 8192")
	post("/v1/runs/a/cancel", `{"reason":"no money"}`, `"state":"cancelled"`, `"reason":"no money"`)
	d.problem(http.MethodPost, "/v1/runs/a/cancel", `{}`, 409, "it has already ended as cancelled")
	d.problem(http.MethodPost, "/v1/runs/a/retry", `{"what":"sleep"}`, 400, "/v1/openapi.json has its schema")
	post("/v1/runs/a/retry", `{}`, `"run_id":"a"`)
	d.problem(http.MethodPost, "/v1/runs/none/cancel", `{}`, 404, "there is no run")
	d.problem(http.MethodPost, "/v1/runs/b/cancel", `{"report":"yes"}`, 400, "/v1/openapi.json has its schema")

	question, err := d.queue.Begin(t.Context(), "b", redisqueue.UnitPlan, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.queue.Await(t.Context(), question.Lease, topicqueue.Question{Kind: topicqueue.AskClarification,
		Text: "Which dunes?"}, 0); err != nil {
		t.Fatal(err)
	}
	d.has("/v1/runs/b", `"state":"awaiting_input"`, `"question":"Which dunes?"`)
	post("/v1/runs/b/answer", `{"text":"all"}`, `"outcome":"answered"`, `"answer":"all"`)
	post("/v1/runs/b/answer", `{"text":"all"}`, `"answer":"all"`) // a client that saw no response sends it again
	post("/v1/runs/b/answer", `{"text":"all","number":1}`, `"answer":"all"`)
	d.problem(http.MethodPost, "/v1/runs/b/answer", `{"text":"none"}`, 409, "was answered at")
	d.problem(http.MethodPost, "/v1/runs/b/answer", `{"text":"all","number":2}`, 409, "was answered at")
	d.create("april", "done")
	if err := d.served.Redis.HSet(t.Context(), "nightdesk:{done}:run", "state", "completed").Err(); err != nil {
		t.Fatal(err)
	}
	d.problem(http.MethodPost, "/v1/runs/done/retry", `{}`, 409, "it has no failed parts", `Set \"what\"`)
	d.publish("stored")
	d.problem(http.MethodPost, "/v1/runs/stored/retry", `{"what":"all"}`, 409, "its state has expired")
}

// TestControl_Batch: what can be changed of a batch is, and nothing else.
func TestControl_Batch(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.create("march", "a", "b")
	for _, step := range []struct{ path, body, want string }{
		{"runs/a/cancel", `{}`, `"state":"cancelled"`},
		{"batches/march/pause", `{}`, `{"batch":"march","runs":2,"changed":["b"],"results":[{"run_id":"a","changed":false,"reason":"it has`},
		{"batches/march/resume", `{}`, `"changed":["b"]`},
		{"batches/march/cancel", `{"reason":"enough"}`, `"changed":["b"]`},
		{"batches/march/cancel", `{}`, `"changed":[]`},
		{"batches/march/retry", `{"what":"all"}`, `"changed":["a","b"]`},
	} {
		if text := d.read(http.MethodPost, "/v1/"+step.path, step.body, 200); !strings.Contains(string(text), step.want) {
			t.Errorf("%s: %s, want %s", step.path, text, step.want)
		}
	}
	d.problem(http.MethodPost, "/v1/batches/none/cancel", `{}`, 404, "there is no batch")
}
