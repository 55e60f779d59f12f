package jobs_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/jobs/notify"
	"nightdesk/topicqueue/redisqueue/redistest"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receiver is somebody who wants to know of events. It answers what answer says to the nth delivery of an event, counted from 1.
type receiver struct {
	t      *testing.T
	server *httptest.Server
	answer func(event string, n int) int
	got    chan delivery // of every delivery, when it was answered

	mu   sync.Mutex
	seen map[string]int // deliveries by id
}

type delivery struct {
	id   string
	n    int
	Type string
	Data struct {
		RunID   string `json:"run_id"`
		Batch   string
		State   string
		Report  string
		Outcome string
		First   []string
		Digest  string
	}
}

func newReceiver(t *testing.T, answer func(event string, n int) int) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer, got: make(chan delivery, 100), seen: map[string]int{}}
	secret, err := notify.ParseSecret(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		d := delivery{id: req.Header.Get("webhook-id")}
		at, _ := strconv.ParseInt(req.Header.Get("webhook-timestamp"), 10, 64)
		if want := secret.Sign(d.id, time.Unix(at, 0), body); req.Header.Get("webhook-signature") != want {
			t.Errorf("signature %q, want %q", req.Header.Get("webhook-signature"), want)
		}
		if err := json.Unmarshal(body, &d); err != nil {
			t.Errorf("body %s: %v", body, err)
		}
		r.mu.Lock()
		r.seen[d.id]++
		d.n = r.seen[d.id]
		r.mu.Unlock()
		w.WriteHeader(r.answer(d.Type, d.n))
		r.got <- d
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) webhook() *notify.Webhook {
	r.t.Helper()
	secret, err := notify.ParseSecret(hookSecret)
	if err != nil {
		r.t.Fatal(err)
	}
	w, err := notify.NewWebhook(r.server.URL, secret, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { w.Close() })
	return w
}

// next returns the next delivery.
func (r *receiver) next() delivery {
	r.t.Helper()
	select {
	case d := <-r.got:
		return d
	case <-time.After(time.Minute):
		r.t.Fatal("no delivery within a minute")
	}
	return delivery{}
}

// TestEventsAreDelivered lets a batch end while its receiver fails at first.
func TestEventsAreDelivered(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	b := setup(t, rdb, nil)
	r := newReceiver(t, func(_ string, n int) int { return map[int]int{1: 500, 2: 302}[n] + map[bool]int{true: 204}[n > 2] })
	b.services.Webhook = r.webhook()
	b.services.Dispatcher.Announce([]string{notify.RunEnded, notify.BatchEnded}, false)
	w := b.start(jobs.Settings{})
	defer w.Stop()
	good := b.enqueue("How do heat pumps work in winter?", options(2, 1, 2), "")
	poor := b.enqueue("Zebrafish xylophone quasar", options(1, 1, 1), "")
	b.seal("night")
	taken := map[string]delivery{}
	for len(taken) < 3 {
		if d := r.next(); d.n == 3 {
			taken[d.Type+" "+d.Data.RunID] = d
		}
	}
	if d := taken["run.ended "+good].Data; d.State != "completed" || !strings.HasSuffix(d.Report, "reports/"+good+".md") {
		t.Errorf("run.ended says %+v", d)
	}
	if d := taken["run.ended "+poor].Data; d.State != "failed" || d.Report != "" {
		t.Errorf("run.ended says %+v", d)
	}
	ended := taken["batch.ended "].Data
	if ended.Batch != "night" || !strings.Contains(ended.Outcome, "1 failed") || !strings.HasPrefix(ended.First[0], "Failed Zebrafish") || !strings.HasSuffix(ended.Digest, "digest.html") {
		t.Errorf("batch.ended says %+v", ended)
	}

	// What is told again is not sent again; what nobody wants is not sent.
	for _, e := range []notify.Event{{Type: notify.RunEnded, Subject: good + "/0"}, {Type: notify.SchedulePaused, Subject: "x"}, {Type: notify.BatchEnded, Subject: "another"}} {
		if err := b.services.Dispatcher.Notify(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if d := r.next(); d.Type != notify.BatchEnded || d.n != 1 {
		t.Errorf("delivered %+v", d)
	}
}

func TestReceiverThatIsGoneIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	b := setup(t, rdb, nil)
	r := newReceiver(t, func(string, int) int { return http.StatusGone })
	b.services.Webhook = r.webhook()
	b.services.Dispatcher.Announce([]string{notify.BudgetReached}, false)
	e := notify.Event{Type: notify.BudgetReached, Subject: "night 2026-03-01"}
	if err := b.services.Dispatcher.Notify(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w := b.start(jobs.Settings{})
	if d := r.next(); d.id != e.ID() {
		t.Errorf("delivered %+v", d)
	}
	w.Stop() // returns when the task is settled
	info, err := asynq.NewInspectorFromRedisClient(rdb).GetTaskInfo("notifying", "webhook:"+e.ID())
	if err != nil || info.State != asynq.TaskStateArchived || !strings.Contains(info.LastErr, "remove webhook.url") {
		t.Errorf("task %+v, %v", info, err)
	}
}

// TestNotifyingProcess is a worker in a process of its own, for the test that kills it.
func TestNotifyingProcess(t *testing.T) {
	socket := os.Getenv("NOTIFYING_PROCESS_REDIS")
	if socket == "" {
		t.Skip("it is started by another test")
	}
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	b := setup(t, rdb, nil)
	secret, err := notify.ParseSecret(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	if b.services.Webhook, err = notify.NewWebhook(os.Getenv("NOTIFYING_PROCESS_URL"), secret, 0); err != nil {
		t.Fatal(err)
	}
	b.start(jobs.Settings{})
	<-t.Context().Done() // until it is killed
}

// TestKilledBetweenDeliveryAndCommit kills a worker that has delivered an event before it can say so: another one delivers the
// event again, under the same id.
func TestKilledBetweenDeliveryAndCommit(t *testing.T) {
	t.Parallel()
	socket := redistest.Socket(t)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { rdb.Close() })
	b := setup(t, rdb, nil)
	var first *exec.Cmd
	r := newReceiver(t, func(_ string, n int) int {
		if n == 1 {
			if err := first.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = first.Wait() // it was killed
		}
		return http.StatusOK
	})
	first = exec.Command(os.Args[0], "-test.run", "^TestNotifyingProcess$")
	first.Env = append(os.Environ(), "NOTIFYING_PROCESS_REDIS="+socket, "NOTIFYING_PROCESS_URL="+r.server.URL)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	b.services.Dispatcher.Announce([]string{notify.SchedulePaused}, false)
	e := notify.Event{Type: notify.SchedulePaused, Subject: "news/2026-03-01T01:00", Data: map[string]string{"batch": "news"}}
	if err := b.services.Dispatcher.Notify(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	before := r.next()
	leases := rdb.ZRange(t.Context(), "asynq:{notifying}:lease", 0, -1).Val()
	if !slices.Equal(leases, []string{"webhook:" + e.ID()}) {
		t.Fatalf("leases %q: the delivery was committed", leases)
	}
	rdb.ZAdd(t.Context(), "asynq:{notifying}:lease", redis.Z{Member: leases[0]}) // as time does
	b.services.Webhook = r.webhook()
	w := b.start(jobs.Settings{})
	defer w.Stop()
	after := r.next()
	if before.id != e.ID() || after.id != before.id || after.n != 2 || after.Data.Batch != "news" {
		t.Errorf("delivered %+v, then %+v", before, after)
	}
}
