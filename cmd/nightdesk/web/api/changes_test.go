package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/nights"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/schedule"
)

// ask enqueues a question, as the services of a desk do.
func (d *testDesk) topicsOf(_ context.Context, spec schedule.Spec, _, _ time.Time) (nights.Snapshot, error) {
	if spec.Name == "busy" {
		return nights.Snapshot{}, view.Usage(errors.New("its list is empty"))
	}
	return nights.Snapshot{Options: make([]topicqueue.Options, 1), Topics: []nights.Topic{{Topic: "bees"}, {Topic: "ants"}}}, nil
}

// TestSchedules: a schedule is paused, resumed and fired.
func TestSchedules(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, name := range []string{"nightly", "busy"} {
		if _, err := d.queue.AddSchedule(t.Context(), schedule.New(schedule.Spec{Name: name, Cron: "0 1 * * *",
			Topics: "topics.txt"}, day)); err != nil {
			t.Fatal(err)
		}
	}
	post := func(path, body, want string) {
		t.Helper()
		if text := d.read(http.MethodPost, path, body, http.StatusOK); !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s:\n%s", path, want, text)
		}
	}
	post("/v1/schedules/nightly/pause", `{"reason":"holidays"}`, `"paused":"holidays`)
	post("/v1/schedules/nightly/pause", `{}`, `"next":[]`)
	post("/v1/schedules/nightly/resume", `{}`, `"next":["`)
	post("/v1/schedules/nightly/fire", `{}`, `"topics":2`)
	d.problem(http.MethodPost, "/v1/schedules/busy/fire", `{}`, http.StatusConflict, "list is empty")
	for _, verb := range []string{"pause", "resume", "fire"} {
		d.problem(http.MethodPost, "/v1/schedules/none/"+verb, `{}`, http.StatusNotFound, "there is no schedule")
	}
	d.problem(http.MethodPost, "/v1/schedules/nightly/fire", `{"x":1}`, http.StatusBadRequest)
}

// TestAsk: a question about a report becomes a run, whose report is the answer.
func TestAsk(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.publish("stored")
	d.create("march", "waits")
	if text := d.read(http.MethodPost, "/v1/runs/stored/ask", `{"question":"Why is sand blown?"}`,
		http.StatusOK); !strings.Contains(string(text), `"batch":"ask_stored_`) {
		t.Errorf("%s", text)
	}
	d.problem(http.MethodPost, "/v1/runs/waits/ask", `{"question":"Why?"}`, http.StatusConflict, "no report yet")
	d.problem(http.MethodPost, "/v1/runs/none/ask", `{"question":"Why?"}`, http.StatusNotFound, "there is no run")
	d.problem(http.MethodPost, "/v1/runs/stored/ask", `{"question":" "}`, http.StatusUnprocessableEntity)
	d.served.Config.LLM.Main.Name = ""
	d.problem(http.MethodPost, "/v1/runs/stored/ask", `{"question":"Which model?"}`, http.StatusUnprocessableEntity,
		"without LLM_MODEL", "Use /v1/search")
	d.problem(http.MethodPost, "/v1/runs/stored/ask", `{}`, http.StatusBadRequest)
}

// TestRates: who asks for too much at once is told to wait, and by what header.
func TestRates(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for n := 1; ; n++ {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.server.URL+"/v1/runs/none/pause",
			strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		answer, err := d.server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusTooManyRequests {
			if n <= 100 || answer.Header.Get("Retry-After") != "1" {
				t.Errorf("request %d was refused, to be sent again after %q s", n, answer.Header.Get("Retry-After"))
			}
			break
		}
		if n == 100_000 {
			t.Fatal("nothing was refused")
		}
	}
	d.has("/v1/runs", `{"runs":[]}`) // reading is counted by itself
}
